import PQueue from "p-queue";
import type { Clock } from "../../base/clock.ts";
import type { HttpStatusError } from "../../base/errors.ts";
import { withSignals } from "./link-signals.ts";

export type Hold = ReturnType<typeof createHold>;
export type HostPace = ReturnType<typeof createHostPace>;

const MAX_SLOWNESS = 16;
/** One odd reply must not stop a worker until somebody sees it. Who really wants a longer pause says so again. */
const MAX_HOLD_MS = 3_600_000;
/** After about 70 answers, a pace that was halved is nearly back at the old one. */
const EASE = 0.99;

/** For all requests of a process to one host: an even pace, slower after refusals, and the hold that it asked for. */
export function createHostPace({ ratePerSecond, clock }: { ratePerSecond: number; clock: Clock }) {
  const nowMs = () => clock.now().getTime();
  const turns = ratePerSecond === 0 ? null : createTurns(ratePerSecond);
  let slowness = 1;
  let emptyTurns = 0;
  let held: Hold | null = null;

  return {
    /** Resolves when the next request may start. A request that is aborted before takes no turn. */
    async turn(signal: AbortSignal): Promise<void> {
      if (turns === null) return;
      emptyTurns += slowness - 1;
      for (; emptyTurns >= 1; emptyTurns--) turns(signal).catch(() => {});
      await turns(signal);
    },
    slow(): void {
      slowness = Math.min(MAX_SLOWNESS, slowness * 2);
    },
    ease(): void {
      slowness = Math.max(1, slowness * EASE);
    },
    /** For an hour at most. If a hold is running, the one that ends last counts. */
    hold(waitMs: number, refusal: HttpStatusError): void {
      const hold = createHold(Math.min(waitMs, MAX_HOLD_MS), refusal, nowMs);
      if (held === null || held.leftMs() <= hold.leftMs()) held = hold;
    },
    held(): Hold | null {
      if (held && held.leftMs() < 0) held = null;
      return held;
    },
    /** Ends a hold after its wait, even if the clock was set in between. A newer hold stays. */
    release(hold: Hold): void {
      if (held === hold) held = null;
    },
  };
}

function createHold(waitMs: number, refusal: HttpStatusError, nowMs: () => number) {
  let latestMs = nowMs();
  let untilMs = latestMs + waitMs;
  return {
    refusal,
    /** When it ends, in milliseconds since 1970. */
    get untilMs() {
      return untilMs;
    },
    leftMs(): number {
      const now = nowMs();
      // Our clock was set back: the rest counts from the new time. Else it could last much longer.
      if (now < latestMs) untilMs = now + Math.min(waitMs, untilMs - latestMs);
      latestMs = now;
      return untilMs - now;
    },
  };
}

/** Timers fire up to two milliseconds late. So a higher rate has more turns in an interval, not shorter ones. */
const SHORTEST_INTERVAL_MS = 40;
const CLOCK_CHECK_MS = 1000;

/**
 * Turns at an even pace, by the rate control of p-queue. It measures by the time of day (`Date.now`, as of 9.3): after the
 * system clock is set back, its queue waits until that time comes again, perhaps for hours, so a new queue replaces it.
 * `strict` limits every window of time. Without it, up to 83 requests a second pass where 50 are allowed, at the
 * border of two windows.
 */
function createTurns(ratePerSecond: number) {
  const intervalCap = Math.max(1, Math.round((ratePerSecond * SHORTEST_INTERVAL_MS) / 1000));
  // p-queue counts whole milliseconds. Half of one less never lets turns come closer, and lets a timer on time pass.
  const interval = Math.ceil((intervalCap * 1000) / ratePerSecond) - 0.5;
  const createQueue = () => ({
    queue: new PQueue({ strict: true, intervalCap, interval }),
    replaced: new AbortController(),
  });
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

  return async (signal: AbortSignal): Promise<void> => {
    if (waiting++ === 0) {
      lastMs = Date.now();
      timer = setInterval(checkClock, CLOCK_CHECK_MS);
    }
    try {
      for (;;) {
        const { queue, replaced } = current;
        const take = (either: AbortSignal) => queue.add(async () => {}, { signal: either });
        try {
          return await withSignals([signal, replaced.signal], take);
        } catch (error) {
          if (signal.aborted || !replaced.signal.aborted) throw error;
        }
      }
    } finally {
      if (--waiting === 0) clearInterval(timer);
    }
  };
}
