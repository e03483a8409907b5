import { setTimeout as delay } from "node:timers/promises";

/** The only source of time and waiting, so that tests can control both. */
export interface Clock {
  now(): Date;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The longest sleep that Node's timers can hold. */
export const LONGEST_SLEEP_MS = 2 ** 31 - 1;

/** The clocks of two machines may differ by this much before one counts as wrong. */
export const CLOCK_TOLERANCE_MS = 300_000;

/**
 * The age of a moment in milliseconds; never negative. Infinity for null, and for a moment that is
 * ahead of `now` by more than the tolerance: a clock was wrong, so its age is not known.
 */
export function ageMs(moment: string | Date | null, now: Date): number {
  if (moment === null) return Number.POSITIVE_INFINITY;
  const age = now.getTime() - new Date(moment).getTime();
  return age < -CLOCK_TOLERANCE_MS ? Number.POSITIVE_INFINITY : Math.max(0, age);
}

/** True where a moment is so far ahead of `now` that a clock is or was wrong. */
export function isAhead(moment: string | Date | null, now: Date): boolean {
  return moment !== null && ageMs(moment, now) === Number.POSITIVE_INFINITY;
}

/** The milliseconds by which another clock is ahead of ours, at least and at most; negative when it is behind. */
export interface ClockAhead {
  minMs: number;
  maxMs: number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};

/** The minutes by which a zone's clocks are ahead of UTC at a moment. Throws a RangeError for an unknown zone. */
export function createZoneOffset(timeZone: string): (moment: Date) => number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  return (moment) => {
    const name = format.formatToParts(moment).find(({ type }) => type === "timeZoneName")?.value ?? "";
    // `GMT-05:00`, or only `GMT` without an offset.
    const [, sign, hours = "0", minutes = "0"] = /([+-])(\d+):(\d+)/.exec(name) ?? [];
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) + 0;
  };
}

/** The earlier of two moments, as it was written. */
export const earlierOf = (one: string, other: string | null): string =>
  other !== null && Date.parse(other) < Date.parse(one) ? other : one;
