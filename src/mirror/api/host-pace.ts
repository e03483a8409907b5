import type { Clock } from "../../base/clock.ts";
import type { HttpStatusError } from "../../base/errors.ts";
import { createTurns } from "./turns.ts";

export type Hold = ReturnType<typeof createHold>;
export type HostPace = ReturnType<typeof createHostPace>;

export interface HostPaceOptions {
  /** Requests a second, evenly spaced; 0 for no limit. */
  ratePerSecond: number;
  clock: Clock;
}

const MAX_SLOWNESS = 16;
/** After about 70 answers, a pace that was halved is nearly back at the old one. */
const EASE = 0.99;

/**
 * The limits for all requests to one host, from every run of the process: an even pace, slower after
 * refusals, and the hold that the host asked for. A process creates one for all its runs.
 */
export function createHostPace({ ratePerSecond, clock }: HostPaceOptions) {
  const nowMs = () => clock.now().getTime();
  const turns = createTurns(ratePerSecond);
  let slowness = 1;
  /** The number of empty turns to take because of the slowness; it may be a fraction. */
  let emptyTurns = 0;
  let held: Hold | null = null;

  return {
    /** Resolves when the next request may start. A request that is aborted before takes no turn. */
    async turn(signal: AbortSignal): Promise<void> {
      if (ratePerSecond === 0) return;
      emptyTurns += slowness - 1;
      for (; emptyTurns >= 1; emptyTurns--) turns.take(signal).catch(() => {});
      await turns.take(signal);
    },
    /** Doubles the time between turns, up to 16 times that of the rate. Does nothing without a rate. */
    slow(): void {
      slowness = Math.min(MAX_SLOWNESS, slowness * 2);
    },
    /** Makes the pace one percent faster, up to the rate. */
    ease(): void {
      slowness = Math.max(1, slowness * EASE);
    },
    /** Starts a hold for a refusal. If a hold is running, the one that ends last counts. */
    hold(waitMs: number, refusal: HttpStatusError): void {
      const hold = createHold(waitMs, refusal, nowMs);
      if (held === null || held.leftMs() <= hold.leftMs()) held = hold;
    },
    /** The current hold, or null. */
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

/** A time without requests to the host, after it refused one with 429 or 503. */
function createHold(waitMs: number, refusal: HttpStatusError, nowMs: () => number) {
  let latestMs = nowMs();
  let untilMs = latestMs + waitMs;
  return {
    refusal,
    /** When it ends, in milliseconds since 1970. It may be Infinity, because servers ask for any number. */
    get untilMs() {
      return untilMs;
    },
    /**
     * The milliseconds that are left, never more than the server asked for. When our clock is set back, the
     * rest counts from the new time.
     */
    leftMs(): number {
      const now = nowMs();
      // Otherwise a hold from a clock that was years ahead would last for years.
      if (now < latestMs) untilMs = now + Math.min(waitMs, untilMs - latestMs);
      latestMs = now;
      return untilMs - now;
    },
  };
}
