import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { isPassing, LOCK_NOT_HAD, READ_ONLY, sqlstateOf, toStoreError } from "./store-errors.ts";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;
const PATIENCE_MS = 60_000;

/** While a container restarts, its name or its socket is missing. If the server answered before, the setting is not wrong. */
const GONE_FOR_NOW: readonly (string | undefined)[] = ["ENOTFOUND", "ENOENT"];

export interface PatienceOptions {
  clock: Clock;
  /**
   * Ends the waits, with its reason. The first try is made even when the signal is aborted, so that records
   * that were already read are stored.
   */
  signal: AbortSignal;
  log: Logger;
  /**
   * Called before each new try: makes sure that the work may still be done. An error that it throws counts as
   * a failure of the try: a passing error is waited out too, any other ends the retries.
   */
  regain(): Promise<void>;
  /**
   * Called when the server takes no writes any more. Makes the next try use new connections, which may lead to another server.
   */
  renew(): void;
  /** This server has taken writes before. @default false, until the first call that succeeded */
  hasWritten?: boolean;
  /** The time in which one call keeps trying after its first failure. @default 60000 */
  patienceMs?: number;
}

/**
 * Runs `fn`, and runs it again while the database is away for a moment: a restart, no free connection, a lost
 * connection, a deadlock, or read-only after it took writes, as during a failover. Waits 0.25 s at first and
 * 5 s at most, with jitter. `fn` must be safe to repeat: a commit whose answer was lost may have been made.
 * `doing` completes "could not …". Throws `StoreError`, or the error of `regain` or of the signal.
 */
export type Patience = <T>(doing: string, fn: () => Promise<T>) => Promise<T>;

export function createPatience(options: PatienceOptions): Patience {
  const { clock, signal, log, regain, renew, patienceMs = PATIENCE_MS } = options;
  let hasWritten = options.hasWritten ?? false;
  return async (doing, fn) => {
    const beganAt = clock.now().getTime();
    let failedAt: number | undefined;
    let waitedMs = 0;
    for (let failures = 0; ; ) {
      try {
        if (failures > 0) await regain();
        const result = await fn();
        hasWritten = true;
        if (failures > 0) log.info({ doing, failures }, "the database answers again");
        return result;
      } catch (error) {
        const isDemoted = hasWritten && sqlstateOf(error) === READ_ONLY;
        const isAway = isPassing(error) || GONE_FOR_NOW.includes(sqlstateOf(error));
        if (!isDemoted && !isAway) throw toStoreError(error, doing);
        if (isDemoted) renew();
        failures += 1;
        // A lock was waited for already.
        const isLocked = sqlstateOf(error) === LOCK_NOT_HAD;
        failedAt ??= isLocked ? beganAt : clock.now().getTime();
        // A clock that is set back must not make the wait endless.
        const spentMs = Math.max(waitedMs, clock.now().getTime() - failedAt);
        if (spentMs >= patienceMs) throw toStoreError(error, doing);
        const longestMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures - 1, 10));
        const waitMs = Math.round(longestMs * (0.5 + Math.random() / 2));
        const facts = { doing, error: messageOf(error), failures, wait_ms: waitMs };
        const level = failures === 1 ? "warn" : "debug";
        if (isLocked) log[level](facts, "another session has a lock; trying again");
        else log[level](facts, "the database is away; trying again");
        await clock.sleep(waitMs, signal);
        waitedMs += waitMs;
      }
    }
  };
}
