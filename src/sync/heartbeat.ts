import type { Sql } from "../db/connect.ts";
import { beatHeart } from "../db/run-ledger.ts";
import type { RunLock } from "../db/run-lock.ts";
import { SharedSessionError } from "../db/session-pooling.ts";
import { LockedError } from "../errors.ts";

const HEARTBEAT_MS = 5000;

/**
 * Shows that the run lives and makes sure that it still has the lock. When another run has it, or no lock can be held over this connection,
 * `onLost` is called with the reason.
 */
export function startHeart(
  sql: Sql,
  runId: number,
  lock: RunLock,
  onLost: (reason: LockedError | SharedSessionError) => void,
): { stop(): void } {
  let isBeating = false;
  const beat = async () => {
    if (isBeating) return;
    isBeating = true;
    try {
      await lock.hold();
      await beatHeart(sql, runId);
    } catch (error) {
      // A database that is away is for the work itself to wait for.
      if (error instanceof LockedError || error instanceof SharedSessionError) onLost(error);
    } finally {
      isBeating = false;
    }
  };
  const timer = setInterval(() => void beat(), HEARTBEAT_MS);
  return { stop: () => clearInterval(timer) };
}
