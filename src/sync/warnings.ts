import type { Logger } from "../log.ts";

const MAX_WARNINGS = 20;

/** What a run has to say that is no failure of its own. */
export interface Warnings {
  /** Logs a warning at once and keeps it, as far as there are not too many. */
  warn(message: string): void;
  /** The first 20 in their order, and one more that says how many were left out. */
  list(): string[];
}

export function createWarnings(log: Logger): Warnings {
  const kept: string[] = [];
  let leftOut = 0;
  return {
    warn(message) {
      log.warn({ warning: message }, "noted for the summary of the run");
      if (kept.length < MAX_WARNINGS) kept.push(message);
      else leftOut += 1;
    },
    list: () => (leftOut > 0 ? [...kept, `${leftOut} more warnings were left out`] : [...kept]),
  };
}
