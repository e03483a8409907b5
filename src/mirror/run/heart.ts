import { LockedError } from "../../base/errors.ts";
import { RENEW_MS } from "../../store/ledger/leases.ts";

/** Shows every few seconds that a work is alive. */
export interface Heart {
  stop(): void;
}

/** Calls `beat` until it is stopped, and `onLost` when a beat throws that another process does the work now. */
export function startHeart(beat: () => Promise<unknown>, onLost: (reason: LockedError) => void): Heart {
  let isBeating = false;
  const tryBeat = async () => {
    if (isBeating) return;
    isBeating = true;
    try {
      await beat();
    } catch (error) {
      // If the database is away, the work itself waits for it.
      if (error instanceof LockedError) onLost(error);
    } finally {
      isBeating = false;
    }
  };
  const timer = setInterval(() => void tryBeat(), RENEW_MS);
  return { stop: () => clearInterval(timer) };
}
