import { LockedError } from "../../base/errors.ts";
import { SharedSessionError } from "../../store/connection/session-pooling.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { beatHeart } from "../../store/ledger/run-ledger.ts";
import type { RunLock } from "../../store/ledger/run-lock.ts";

const HEARTBEAT_MS = 5000;

/** Shows that the run is alive. Calls `onLost` when another run has the lock, or it cannot be held. */
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
      // If the database is away, the work itself waits for it.
      if (error instanceof LockedError || error instanceof SharedSessionError) onLost(error);
    } finally {
      isBeating = false;
    }
  };
  const timer = setInterval(() => void beat(), HEARTBEAT_MS);
  return { stop: () => clearInterval(timer) };
}
