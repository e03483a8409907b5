import type { ClockAhead } from "../../base/clock.ts";

/** The three forms of an HTTP date (RFC 9110, 5.6.7). Date.parse accepts almost any text with a number. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/** Reads a header such as `Date`, to the second. Null when it is missing or not an HTTP date. */
export function parseHttpDate(header: string | undefined): Date | null {
  const text = header?.trim() ?? "";
  if (!HTTP_DATES.some((form) => form.test(text))) return null;
  const ms = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(ms) ? null : new Date(ms);
}

const YEAR_MS = 365 * 86_400_000;
/** Dates that no standard allows here, and that some services send. Only with a zone do they name a moment. */
const ZONED_DATES = [
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})? ?(Z|[+-]\d\d:?\d\d)$/,
  /^([A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (UTC|[+-]\d{4})$/,
];

/**
 * In milliseconds: seconds, or an HTTP date (RFC 9110, 10.2.3); 0 for a past one. Undefined when it cannot be read. A number
 * that is a moment within a year, in seconds or milliseconds since 1970, is that moment: as a wait it would be decades.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  const until = (ms: number) => Math.max(0, ms - now.getTime());
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) {
    const moment = [Number(text) * 1000, Number(text)].find((ms) => Math.abs(ms - now.getTime()) < YEAR_MS);
    return moment === undefined ? Math.max(0, Number(text) * 1000) : until(moment);
  }
  const ms = ZONED_DATES.some((form) => form.test(text)) ? Date.parse(text) : Number.NaN;
  const date = Number.isNaN(ms) ? parseHttpDate(text) : new Date(ms);
  return date ? until(date.getTime()) : undefined;
}

/** The age of a reply on arrival, by its `Age` in seconds (RFC 9111): 0 without one, a year at most. */
export function cacheAgeMs(age: string | undefined): number {
  if (age === undefined || !/^\d+$/.test(age.trim()) || Number(age) === 0) return 0;
  return Math.min(Number(age) + 1, 366 * 86_400) * 1000;
}

/** The difference of two clocks. Each reply narrows it: the service read its clock meanwhile. */
interface ClockDifference {
  learn(serverDate: Date, sentAt: Date, receivedAt: Date): void;
  /** Null before the first reply with a date. */
  ahead(): ClockAhead | null;
}

/** It starts again when no difference fits all replies: then a clock was set. */
export function createClockDifference(): ClockDifference {
  let known: ClockAhead | null = null;
  return {
    learn(serverDate, sentAt, receivedAt) {
      const bounds = {
        minMs: serverDate.getTime() - receivedAt.getTime(),
        // `Date` has whole seconds.
        maxMs: serverDate.getTime() + 1000 - sentAt.getTime(),
      };
      // Our own clock was set back by more than a second during the request, so this reply shows nothing.
      if (bounds.minMs > bounds.maxMs) return;
      const both = known && {
        minMs: Math.max(known.minMs, bounds.minMs),
        maxMs: Math.min(known.maxMs, bounds.maxMs),
      };
      known = both && both.minMs <= both.maxMs ? both : bounds;
    },
    ahead: () => known && { ...known },
  };
}
