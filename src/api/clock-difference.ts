import type { ClockAhead } from "../clock.ts";

export type { ClockAhead } from "../clock.ts";

export interface ClockDifference {
  /** Learns from a reply's `Date`, and from when its request was sent and its head was here by our clock. */
  learn(serverDate: Date, sentAt: Date, receivedAt: Date): void;
  /** What agrees with all replies so far; null as long as none told. */
  ahead(): ClockAhead | null;
}

/** `Date` has whole seconds: the service's clock had gone on by less than this since. */
const DATE_STEP_MS = 1000;

/**
 * Narrows the difference with each reply: the service read its clock after the request was sent and before the reply was
 * here. Where no difference agrees with all replies, a clock was set meanwhile, and it starts anew from the latest one. So
 * a late reply out of a cache shows a service that is behind, until the next one that is fresh.
 */
export function createClockDifference(): ClockDifference {
  let known: ClockAhead | null = null;
  return {
    learn(serverDate, sentAt, receivedAt) {
      const told = {
        minMs: serverDate.getTime() - receivedAt.getTime(),
        maxMs: serverDate.getTime() + DATE_STEP_MS - sentAt.getTime(),
      };
      // Our own clock was set back by more than a second while the reply was on its way: nothing can be told from it.
      if (told.minMs > told.maxMs) return;
      const both = known && {
        minMs: Math.max(known.minMs, told.minMs),
        maxMs: Math.min(known.maxMs, told.maxMs),
      };
      known = both && both.minMs <= both.maxMs ? both : told;
    },
    ahead: () => known && { ...known },
  };
}
