import type { Logger } from "../../base/log.ts";

const MAX_WARNINGS = 20;

/** The warnings of a run, which are not failures. */
export function createWarnings(log: Logger) {
  const kept: string[] = [];
  let leftOut = 0;
  return {
    /** Logs a warning at once and keeps it, unless there are too many. */
    warn(message: string): void {
      log.warn({ warning: message }, "warning for the summary of the run");
      if (kept.length < MAX_WARNINGS) kept.push(message);
      else leftOut += 1;
    },
    /** The first 20 warnings in order, and one more that says how many were left out. */
    list: (): string[] => (leftOut > 0 ? [...kept, `${leftOut} more warnings were left out`] : [...kept]),
  };
}
