import { createZoneOffset } from "../../base/clock.ts";
import { oneRow, type Sql, statement } from "../../store/connection/sql.ts";

const OFFSET_SPANS = statement<OffsetSpan>("offset_spans", import.meta.url);
const FUTURE_DATES = statement<{ builds: number; future: number; medianMinutes: number | null }>(
  "future_dates",
  import.meta.url,
);

const DAY_MS = 86_400_000;
/** The newest days with evidence show the current offset; earlier ones, whether there is summer time. */
const RECENT_DAYS = 7;

/** The days on which the offset of a zone fits most builds. */
interface ZoneFit {
  zone: string;
  days: number;
  recentDays: number;
}

export interface ZoneJudgement {
  /** The days with evidence, as in "2026-05-01". */
  days: string[];
  builds: number;
  configured: ZoneFit;
  /** The configured one if no other fits better. Null when no zone fits on any day. */
  best: ZoneFit | null;
  /** The number of other zones that fit as well as the best one. */
  alike: number;
  /** The builds on days that the best zone fits and the configured one does not. */
  against: number;
  /** Minutes ahead of UTC, at the end of the newest day that separates the two, else of the newest day. */
  offsets: { configured: number; best: number };
}

interface Day {
  name: string;
  start: Date;
  end: Date;
  builds: number;
  spans: OffsetSpan[];
}

/**
 * Checks the zone in which the service's dates are read. A zone fits on a day when its offset explains at least half
 * of the day's builds: single builds may have a wrong date. The best one fits on most of the newest days, and then on
 * most of all. Null without evidence.
 */
export function judgeZone(spans: readonly OffsetSpan[], configuredZone: string): ZoneJudgement | null {
  const days = toDays(spans);
  const newest = days.at(-1);
  if (!newest) return null;
  const recent = days.slice(-RECENT_DAYS);
  const fitOf = (zone: string) => {
    const fitting = fittingDays(zone, days);
    const recentDays = recent.filter((day) => fitting.has(day)).length;
    const score: ZoneFit = { zone, days: fitting.size, recentDays };
    return { fitting, score };
  };
  const configured = fitOf(configuredZone);
  const others = listZones().map(fitOf);
  let best = configured;
  for (const other of others) if (compare(other.score, best.score) > 0) best = other;
  const alike = others.filter(
    ({ score }) => score.zone !== best.score.zone && compare(score, best.score) === 0,
  );
  const apart = days.filter((day) => best.fitting.has(day) && !configured.fitting.has(day));
  const shownAt = (apart.at(-1) ?? newest).end;
  return {
    days: days.map(({ name }) => name),
    builds: days.reduce((sum, day) => sum + day.builds, 0),
    configured: configured.score,
    best: best.fitting.size === 0 ? null : best.score,
    alike: alike.length,
    against: apart.reduce((sum, day) => sum + day.builds, 0),
    offsets: {
      configured: createZoneOffset(configuredZone)(shownAt),
      best: createZoneOffset(best.score.zone)(shownAt),
    },
  };
}

function toDays(spans: readonly OffsetSpan[]): Day[] {
  const names = [...new Set(spans.map(({ day }) => day))].sort();
  return names.map((name) => {
    const start = Date.parse(`${name}T00:00:00Z`);
    const own = spans.filter(({ day }) => day === name);
    return {
      name,
      start: new Date(start),
      end: new Date(start + DAY_MS),
      builds: own.reduce((sum, { builds }) => sum + builds, 0),
      spans: own,
    };
  });
}

/** On a day on which summer time begins or ends, both offsets are accepted. */
function fittingDays(zone: string, days: readonly Day[]): Set<Day> {
  const offsetAt = createZoneOffset(zone);
  return new Set(
    days.filter((day) => {
      const offsets = [offsetAt(day.start), offsetAt(day.end)];
      const explained = day.spans
        .filter(({ from, to }) => offsets.some((offset) => from <= offset && offset <= to))
        .reduce((sum, { builds }) => sum + builds, 0);
      return explained * 2 >= day.builds;
    }),
  );
}

function compare(one: ZoneFit, other: ZoneFit): number {
  return one.recentDays - other.recentDays || one.days - other.days;
}

/** Builds of one day (UTC) whose dates allow the same offsets, in minutes ahead of UTC; none when `to` is less than `from`. */
export interface OffsetSpan {
  day: string;
  from: number;
  to: number;
  builds: number;
}

/** A reading of the head counts only when the reading before began at most this long before. */
export const FRESH_WITHIN_MINUTES = 15;
/** The error allowed in the measured difference of two clocks. */
const TOLERANCE_SECONDS = 60;
/** With a larger clock error two neighbouring zones look alike, so such runs are no evidence. */
export const MAX_CLOCK_SECONDS = 600;

/**
 * The evidence since a moment, day by day, from fresh builds: one reading of the head did not show the build, and the
 * next one did. So its date, read as UTC, differs from its first sighting by the offset of the zone and at most the
 * time between the two readings.
 */
export async function findOffsetSpans(sql: Sql, since: string): Promise<OffsetSpan[]> {
  return OFFSET_SPANS(sql, {
    since,
    toleranceSeconds: TOLERANCE_SECONDS,
    mostClockSeconds: MAX_CLOCK_SECONDS,
    freshWithinMinutes: FRESH_WITHIN_MINUTES,
  });
}

/** A date that is less far in the future may be due to a wrong clock. */
const FUTURE_FROM_MINUTES = 10;

/** Counts the builds seen within a day of their date, and those with a future one, with its minutes. Many prove a zone farther east. */
export async function findFutureDates(sql: Sql, zone: string, since: string) {
  return oneRow(FUTURE_DATES(sql, { fromMinutes: FUTURE_FROM_MINUTES, zone, since }));
}

/** The likely zones, the likeliest first: most servers run in UTC, the original service in Chicago. */
const LIKELY_ZONES = (
  "Etc/UTC America/Chicago America/New_York America/Los_Angeles America/Denver America/Phoenix America/Sao_Paulo " +
  "Europe/London Europe/Berlin Europe/Helsinki Europe/Moscow Asia/Dubai Asia/Kolkata Asia/Shanghai Asia/Tokyo " +
  "Asia/Seoul Australia/Sydney Pacific/Auckland"
).split(" ");

/** Every zone that a service may use, the likeliest first. */
export function listZones(): string[] {
  // The signs are reversed: Etc/GMT+6 is six hours behind UTC.
  const fixed = Array.from({ length: 27 }, (_, index) => index - 14).filter((hours) => hours !== 0);
  const names = fixed.map((hours) => `Etc/GMT${hours > 0 ? "+" : ""}${hours}`);
  return [...new Set([...LIKELY_ZONES, ...Intl.supportedValuesOf("timeZone"), ...names])];
}
