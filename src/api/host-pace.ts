import type { Clock } from "../clock.ts";
import type { HttpStatusError } from "../errors.ts";
import { createTurns } from "./turns.ts";

/** A time in which the host is to be left alone, because it refused a request with 429 or 503. */
export interface Hold {
  readonly refusal: HttpStatusError;
  /** When it is over, in milliseconds since 1970; Infinity is possible, since servers ask for anything. */
  readonly untilMs: number;
  /** What is left of it in milliseconds; never more than was asked for. Should our clock be set back, it begins anew from there. */
  leftMs(): number;
}

/**
 * What holds for every request to one host, whichever run it belongs to: the even pace, slowed after refusals, and how long the host
 * asked to be left alone. A process makes one for all its runs.
 */
export interface HostPace {
  /** Resolves when the next request may start. A request that is aborted while it waits takes no turn. */
  turn(signal: AbortSignal): Promise<void>;
  /** Doubles the time between turns, up to 16 times the time that the rate gives. Does nothing where there is no rate. */
  slow(): void;
  /** Takes one percent of the slowness back. */
  ease(): void;
  /** Notes a refusal and the wait that follows from it. The hold that ends last counts. */
  hold(waitMs: number, refusal: HttpStatusError): void;
  /** The hold that is running, or null. */
  held(): Hold | null;
  /** Ends a hold that was slept through, whatever the time of day says. A hold that came meanwhile stays. */
  release(hold: Hold): void;
}

export interface HostPaceOptions {
  /** Requests a second, evenly spaced; 0 for no limit. */
  ratePerSecond: number;
  clock: Clock;
}

const MAX_SLOWNESS = 16;
/** About 70 answers bring a pace that was halved back to nearly the old one. */
const EASE = 0.99;

export function createHostPace({ ratePerSecond, clock }: HostPaceOptions): HostPace {
  const nowMs = () => clock.now().getTime();
  const turns = createTurns(ratePerSecond);
  let slowness = 1;
  /** Empty turns that are due because of the slowness, as a fraction. */
  let emptyTurns = 0;
  let held: Hold | null = null;

  return {
    async turn(signal) {
      if (ratePerSecond === 0) return;
      emptyTurns += slowness - 1;
      for (; emptyTurns >= 1; emptyTurns--) turns.take(signal).catch(() => {});
      await turns.take(signal);
    },
    slow() {
      slowness = Math.min(MAX_SLOWNESS, slowness * 2);
    },
    ease() {
      slowness = Math.max(1, slowness * EASE);
    },
    hold(waitMs, refusal) {
      const hold = createHold(waitMs, refusal, nowMs);
      if (held === null || held.leftMs() <= hold.leftMs()) held = hold;
    },
    held() {
      if (held && held.leftMs() < 0) held = null;
      return held;
    },
    release(hold) {
      if (held === hold) held = null;
    },
  };
}

function createHold(waitMs: number, refusal: HttpStatusError, nowMs: () => number): Hold {
  let latestMs = nowMs();
  let untilMs = latestMs + waitMs;
  return {
    refusal,
    get untilMs() {
      return untilMs;
    },
    leftMs() {
      const now = nowMs();
      // Else a hold from a clock that stood years ahead would last as many years.
      if (now < latestMs) untilMs = now + Math.min(waitMs, untilMs - latestMs);
      latestMs = now;
      return untilMs - now;
    },
  };
}
