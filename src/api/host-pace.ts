import type { Clock } from "../clock.ts";
import type { HttpStatusError } from "../errors.ts";
import { createPacer, type Pacer } from "./pacer.ts";

/** A time in which the host is to be left alone, because it refused a request with 429 or 503. */
export interface Hold {
  readonly refusal: HttpStatusError;
  /** When it is over, in milliseconds since 1970; Infinity is possible, since servers ask for anything. */
  readonly untilMs: number;
  /** What is left of it in milliseconds; never more than was asked for, should our clock be set back. */
  leftMs(): number;
}

/**
 * What holds for every request to one host, whichever run it belongs to: the even pace, slowed after refusals, and how long the host
 * asked to be left alone. A process makes one for all its runs.
 */
export interface HostPace extends Pacer {
  /** Notes a refusal and the wait that follows from it. Where several are running, the one that ends last counts. */
  hold(waitMs: number, refusal: HttpStatusError): void;
  /** The hold that is running, or null. */
  held(): Hold | null;
  /** Ends a hold that was slept through, whatever the time of day says; another one that came meanwhile stays. */
  release(hold: Hold): void;
}

export interface HostPaceOptions {
  /** Requests a second, evenly spaced; 0 for no limit. */
  ratePerSecond: number;
  clock: Clock;
}

export function createHostPace({ ratePerSecond, clock }: HostPaceOptions): HostPace {
  const nowMs = () => clock.now().getTime();
  let held: Hold | null = null;

  return {
    ...createPacer(ratePerSecond),
    hold(waitMs, refusal) {
      const untilMs = nowMs() + waitMs;
      if (held && held.untilMs > untilMs) return;
      held = { refusal, untilMs, leftMs: () => Math.min(waitMs, untilMs - nowMs()) };
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
