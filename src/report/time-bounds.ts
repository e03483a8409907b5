import { parseDuration } from "../base/config/setting.ts";
import { ConfigError } from "../base/errors.ts";

/** The span of time that one row of a relation stands for. Bounds are rounded to it. */
export type TimeGrain = "moment" | "hour" | "day";

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const SPANS_MS: Readonly<Record<TimeGrain, number>> = { moment: 1, hour: 3_600_000, day: DAY_MS };
/** Longer spans could reach years before 1, which Postgres and JavaScript write in different ways. */
const LONGEST_SPAN_MS = 100 * 366 * DAY_MS;
const FORM = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * Turns a span such as `7d` or `1h30m` into the moment that long before `end`, to the minute. Returns any other text as it
 * is. Links, and the SQL next to a figure, use the moment, so that they mean the same tomorrow.
 */
export function resolveSpan(text: string, end: Date): string {
  const spanMs = parseDuration(text);
  if (spanMs === undefined || spanMs === 0 || spanMs > LONGEST_SPAN_MS) return text;
  const moment = Math.floor((end.getTime() - spanMs) / MINUTE_MS) * MINUTE_MS;
  return `${new Date(moment).toISOString().slice(0, 16)}Z`;
}

/**
 * Reads `since` and `until`: a day such as 2026-11-03 or a moment such as 2026-11-03T12:00Z; without a zone it is UTC, as all
 * of schema `report` is. A day given as `until` is included, a moment is not. A row that stands for a span is included when
 * any part of the span is: since noon includes that day. `resolveSpan` must come before. Gives bounds for a condition, in ISO
 * 8601 in UTC: `from` is included, `before` is not. Throws ConfigError for a text that is not a time.
 */
export function readTimeBounds(
  { since, until }: { since?: string | undefined; until?: string | undefined },
  span: TimeGrain,
) {
  const first = since === undefined ? null : parseTime("since", since);
  const last = until === undefined ? null : parseTime("until", until);
  const before = last === null ? null : last.moment + (last.isDay ? DAY_MS : 0);
  if (first !== null && before !== null && before <= first.moment)
    throw new ConfigError(`until (${until}) is not after since (${since})`, { hint: "swap them" });
  return {
    from: first && new Date(Math.floor(first.moment / SPANS_MS[span]) * SPANS_MS[span]).toISOString(),
    before: before === null ? null : new Date(before).toISOString(),
  };
}

/** Throws ConfigError for a text that is neither a day nor a moment. `label` is where it came from, as `--since`. */
export function parseTime(label: string, text: string): { moment: number; isDay: boolean } {
  const [, day, time, zone = "Z"] = FORM.exec(text.trim()) ?? [];
  if (day !== undefined && isDay(day)) {
    if (time === undefined) return { moment: Date.parse(day), isDay: true };
    const offset = zone.replace(/^([+-]\d\d):?(\d\d)?$/, (_, hours, minutes = "00") => `${hours}:${minutes}`);
    const moment = Date.parse(`${day}T${time}${offset.toUpperCase()}`);
    if (!Number.isNaN(moment)) return { moment, isDay: false };
  }
  throw new ConfigError(
    `${label} ${text}: give a day (2026-11-03), a time (2026-11-03T12:00Z) or a span (7d)`,
    {
      hint: "days and times are in UTC; a span counts back from the last look at the builds, with the units m, h, d and w",
    },
  );
}

/** JavaScript reads 30 February as 2 March. */
function isDay(text: string): boolean {
  const moment = Date.parse(text);
  return !Number.isNaN(moment) && new Date(moment).toISOString().startsWith(text);
}
