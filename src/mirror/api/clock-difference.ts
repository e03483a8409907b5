import type { ClockAhead } from "../../base/clock.ts";

/** `Date` has whole seconds, so the real time was less than this much later. */
const DATE_STEP_MS = 1000;

/**
 * Narrows the difference with each reply: the service read its clock after the request was sent and before
 * the reply arrived. When no difference fits all replies, a clock was set in between, and learning starts
 * again from the latest reply. So an old reply from a cache makes the service look behind until the next
 * fresh reply.
 */
export function createClockDifference() {
  let known: ClockAhead | null = null;
  return {
    /** Learns from the `Date` of a reply, and from our times of sending the request and receiving the head. */
    learn(serverDate: Date, sentAt: Date, receivedAt: Date): void {
      const bounds = {
        minMs: serverDate.getTime() - receivedAt.getTime(),
        maxMs: serverDate.getTime() + DATE_STEP_MS - sentAt.getTime(),
      };
      // Our own clock was set back by more than a second during the request, so this reply shows nothing.
      if (bounds.minMs > bounds.maxMs) return;
      const both = known && {
        minMs: Math.max(known.minMs, bounds.minMs),
        maxMs: Math.min(known.maxMs, bounds.maxMs),
      };
      known = both && both.minMs <= both.maxMs ? both : bounds;
    },
    /** The range that agrees with all replies so far. Null until a reply has a `Date`. */
    ahead: (): ClockAhead | null => known && { ...known },
  };
}
