import type { Logger } from "../../base/log.ts";

const MAX_WARNINGS = 20;

/** The warnings of a run, which are not failures. */
export interface Warnings {
  /** Logs a warning at once and keeps it, unless there are too many. */
  warn(message: string): void;
  /** The first 20 warnings in order, and one more that says how many were left out. */
  list(): string[];
}

export function createWarnings(log: Logger): Warnings {
  const kept: string[] = [];
  let leftOut = 0;
  return {
    warn(message) {
      log.warn({ warning: message }, "warning for the summary of the run");
      if (kept.length < MAX_WARNINGS) kept.push(message);
      else leftOut += 1;
    },
    list: () => (leftOut > 0 ? [...kept, `${leftOut} more warnings were left out`] : [...kept]),
  };
}
