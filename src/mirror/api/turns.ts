/**
 * Turns at an even pace, by the rate control of p-queue. It has this wrapper because p-queue measures by the time of day
 * (`Date.now`, as of 9.3): after the system clock is set back, its queue waits until that time comes again, perhaps for
 * hours, so a new queue replaces it.
 */
import { setMaxListeners } from "node:events";
import PQueue from "p-queue";
import { linkSignals } from "./link-signals.ts";

/** Timers fire up to two milliseconds late. So a higher rate has more turns in an interval, not shorter ones. */
const SHORTEST_INTERVAL_MS = 40;
const CLOCK_CHECK_MS = 1000;

/**
 * `strict` limits every window of time. Without it, up to 83 requests a second pass where 50 are allowed, at the
 * border of two windows.
 */
export function createTurns(ratePerSecond: number) {
  const intervalCap = Math.max(1, Math.round((ratePerSecond * SHORTEST_INTERVAL_MS) / 1000));
  // p-queue counts whole milliseconds. Half a millisecond less never lets two turns come closer, and lets a
  // timer that fires on time pass.
  const interval = Math.ceil((intervalCap * 1000) / ratePerSecond) - 0.5;
  const createQueue = () => {
    const replaced = new AbortController();
    setMaxListeners(0, replaced.signal);
    const queue = ratePerSecond === 0 ? new PQueue() : new PQueue({ strict: true, intervalCap, interval });
    return { queue, replaced };
  };
  let current = createQueue();
  let waiting = 0;
  let timer: NodeJS.Timeout | undefined;
  let lastMs = 0;

  function checkClock(): void {
    const nowMs = Date.now();
    if (nowMs < lastMs) {
      const { replaced } = current;
      current = createQueue();
      replaced.abort();
    }
    lastMs = nowMs;
  }

  return {
    /** Resolves when it is the caller's turn. When aborted before, rejects with the reason and takes no turn. */
    async take(signal: AbortSignal): Promise<void> {
      if (waiting++ === 0) {
        lastMs = Date.now();
        timer = setInterval(checkClock, CLOCK_CHECK_MS);
      }
      try {
        for (;;) {
          const { queue, replaced } = current;
          const either = linkSignals([signal, replaced.signal]);
          try {
            return await queue.add(async () => {}, { signal: either.signal });
          } catch (error) {
            if (signal.aborted || !replaced.signal.aborted) throw error;
          } finally {
            either.release();
          }
        }
      } finally {
        if (--waiting === 0) clearInterval(timer);
      }
    },
  };
}
