import type { Logger } from "../../base/log.ts";
import type { Resource } from "../../resources/resources.ts";

const MAX_WARNINGS = 20;

/** The warnings of a run, which are not failures. */
export interface Warnings {
  /** Logs a warning at once and keeps it, unless there are too many. */
  warn(message: string): void;
  /** The first 20 in order, and one more that says how many were left out. */
  list(): string[];
}

export function createWarnings(log: Logger): Warnings {
  const kept: string[] = [];
  let leftOut = 0;
  return {
    warn(message) {
      log.info({ warning: message }, "warning for the summary of the run");
      if (kept.length < MAX_WARNINGS) kept.push(message);
      else leftOut += 1;
    },
    list: () => (leftOut > 0 ? [...kept, `${leftOut} more warnings were left out`] : [...kept]),
  };
}

const MAX_NAMED = 5;

/** The records of a run whose bytes did not fit the charset of their reply. They are stored with U+FFFD. */
export interface DamagedRecords {
  add(resource: Resource, ids: readonly string[]): void;
  /** Records that came on two pages count once, unless there are more than 10,000. */
  readonly count: number;
  /** A sentence for people that names the first of them. */
  describe(): string;
}

export function createDamaged(log: Logger): DamagedRecords {
  const known = new Set<string>();
  let count = 0;
  return {
    add(resource, ids) {
      for (const id of ids) {
        const name = `${resource} ${id === "" ? "without an id" : id.slice(0, 40)}`;
        if (known.has(name)) continue;
        if (known.size < 10_000) known.add(name);
        count += 1;
        const message = "a record came with bytes that do not fit its charset; they were replaced";
        log.warn({ resource, id }, message);
      }
    },
    get count() {
      return count;
    },
    describe() {
      const named = [...known].slice(0, MAX_NAMED).join(", ");
      const rest = count > MAX_NAMED ? ` and ${count - MAX_NAMED} more` : "";
      return `bytes that do not fit the charset were replaced by U+FFFD in ${named}${rest}; the log names each record`;
    },
  };
}
