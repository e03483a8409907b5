import type { Logger } from "../../base/log.ts";

const WRITERS: readonly PropertyKey[] = ["fatal", "error", "warn", "info", "debug", "trace"];

/**
 * The same log, but every line (those of children too) is written inside `around`, which can clear progress
 * bars before the line and draw them again after it. Lines below the log's level do not call it.
 */
export function wrapLog(log: Logger, around: (write: () => void) => void): Logger {
  return new Proxy(log, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      if (property === "child") {
        return (...args: unknown[]) => wrapLog(Reflect.apply(value, target, args), around);
      }
      if (!WRITERS.includes(property) || !target.isLevelEnabled(String(property))) return value.bind(target);
      return (...args: unknown[]) => around(() => Reflect.apply(value, target, args));
    },
  });
}
