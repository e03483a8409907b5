import { systemClock } from "../clock.ts";

/** What a late start may be made up for, so that slow timers cost no rate. It bounds what follows a stall: no burst. */
const MAKE_UP_MS = 6;
const MAX_SLOWNESS = 16;
/** Some 70 requests until a pace that was halved is nearly the old one again. */
const EASE = 0.99;

/** Gives turns at an even pace. */
export interface Pacer {
  /** Resolves when the next request may start. One that is aborted while it waits takes no turn. */
  turn(signal: AbortSignal): Promise<void>;
  /** Doubles the time between turns, up to 16 times what the rate says. Without a rate there is none to slow. */
  slow(): void;
  /** Takes a percent of that back. */
  ease(): void;
}

/**
 * One turn every `1000 / ratePerSecond` milliseconds; 0 means no limit. A queue's own interval (p-queue's, in any form) lets two windows meet: while
 * requests come one after another, up to 83 a second were seen where 50 were allowed. The wait is on the machine's
 * monotonic time, since a wall clock may jump.
 */
export function createPacer(ratePerSecond: number): Pacer {
  const intervalMs = 1000 / ratePerSecond;
  let slowness = 1;
  let nextAt = 0;
  let last: Promise<void> = Promise.resolve();

  async function wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const waitMs = nextAt - performance.now();
    if (waitMs > 0) await systemClock.sleep(waitMs, signal);
    nextAt = Math.max(nextAt, performance.now() - MAKE_UP_MS) + intervalMs * slowness;
  }

  return {
    turn(signal) {
      if (ratePerSecond === 0) return Promise.resolve();
      // Each waits for the one before, so a stall does not wake many at once.
      const mine = last.then(() => wait(signal));
      last = mine.catch(() => {});
      return mine;
    },
    slow() {
      slowness = Math.min(MAX_SLOWNESS, slowness * 2);
    },
    ease() {
      slowness = Math.max(1, slowness * EASE);
    },
  };
}
