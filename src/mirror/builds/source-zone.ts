import { createZoneOffset } from "../../base/zone-offset.ts";
import type { OffsetSpan } from "./zone-evidence.ts";
import { listZones } from "./zone-offsets.ts";

const DAY_MS = 86_400_000;
/** The newest days with evidence show the current offset; earlier ones, whether there is summer time. */
const RECENT_DAYS = 7;

/** On how many days the offset of a zone fits most builds. */
export interface ZoneFit {
  zone: string;
  days: number;
  recentDays: number;
}

export interface ZoneJudgement {
  /** Days with evidence, the oldest first. */
  days: string[];
  builds: number;
  configured: ZoneFit;
  /** The zone that fits best; the configured one if no other fits better. Null when no zone fits on any day. */
  best: ZoneFit | null;
  /** How many other zones fit as well as the best one. */
  alike: number;
  /** The number of builds on days that the best zone fits and the configured one does not. */
  against: number;
  /** Minutes ahead of UTC, at the end of the newest day that separates the two, else of the newest day. */
  offsets: { configured: number; best: number };
}

interface Day {
  name: string;
  start: Date;
  end: Date;
  builds: number;
  spans: readonly OffsetSpan[];
}

/**
 * Checks the zone in which the service's dates are read, against the builds that were seen soon after they
 * began. A zone fits on a day when its offset explains at least half of the day's builds: single builds may
 * have a wrong date. The best zone fits on most of the newest days, and then on most of all days. Null
 * without evidence.
 */
export function judgeZone(spans: readonly OffsetSpan[], configuredZone: string): ZoneJudgement | null {
  const days = toDays(spans);
  const newest = days.at(-1);
  if (!newest) return null;
  const fits = [configuredZone, ...listZones()].map((zone) => ({ zone, fitting: fittingDays(zone, days) }));
  const [configured = { zone: configuredZone, fitting: new Set<Day>() }, ...others] = fits;
  const recent = new Set(days.slice(-RECENT_DAYS));
  const scoreOf = ({ zone, fitting }: (typeof fits)[number]): ZoneFit => ({
    zone,
    days: fitting.size,
    recentDays: [...fitting].filter((day) => recent.has(day)).length,
  });
  let best = configured;
  for (const other of others) if (compare(scoreOf(other), scoreOf(best)) > 0) best = other;
  const isAlike = (other: (typeof fits)[number]) => compare(scoreOf(other), scoreOf(best)) === 0;
  const apart = days.filter((day) => best.fitting.has(day) && !configured.fitting.has(day));
  const shownAt = (apart.at(-1) ?? newest).end;
  return {
    days: days.map(({ name }) => name),
    builds: days.reduce((sum, day) => sum + day.builds, 0),
    configured: scoreOf(configured),
    best: best.fitting.size === 0 ? null : scoreOf(best),
    alike: others.filter((other) => other.zone !== best.zone && isAlike(other)).length,
    against: apart.reduce((sum, day) => sum + day.builds, 0),
    offsets: {
      configured: createZoneOffset(configured.zone)(shownAt),
      best: createZoneOffset(best.zone)(shownAt),
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
