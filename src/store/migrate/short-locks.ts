import { systemClock } from "../../base/clock.ts";
import { LockedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { LOCK_NOT_HAD, sqlstateOf } from "../connection/store-errors.ts";

/** The longest wait for one lock, in milliseconds. */
export const LOCK_WAIT_MS = 3000;
const PAUSE_MS = 1000;
const PATIENCE_MS = 300_000;

/** A lock was not had in time, or a deadlock. */
const NOT_HAD: readonly (string | undefined)[] = [LOCK_NOT_HAD, "40P01"];

export interface ShortLockOptions {
  /** The longest wait for one lock. The caller sets it as `lock_timeout`. @default 3000 */
  lockWaitMs: number;
  /** The pause between two tries. @default 1000 */
  pauseMs: number;
  /** The time of all tries from the first failure on. @default 300000 */
  patienceMs: number;
}

/**
 * Runs `attempt`, which is one transaction, until it gets all of its locks. A session that waits for the lock of a table keeps all
 * later sessions waiting too, so it waits shortly, and pauses. Throws its error when the
 * patience is over; other errors, and the signal's reason, at once.
 */
export async function withShortLocks<T>(
  attempt: () => Promise<T>,
  options: Partial<ShortLockOptions> & { log: Logger | undefined; signal: AbortSignal | undefined },
): Promise<T> {
  const { pauseMs = PAUSE_MS, patienceMs = PATIENCE_MS, log, signal } = options;
  let until: number | undefined;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LockedError) && !NOT_HAD.includes(sqlstateOf(error))) throw error;
      if (until === undefined) log?.info("other sessions use the tables; trying again until they let go");
      until ??= performance.now() + patienceMs;
      if (performance.now() + pauseMs > until) throw error;
      await systemClock.sleep(pauseMs, signal);
    }
  }
}
