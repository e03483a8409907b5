/** Answers by day and week. */

import type { Fact } from "./facts.ts";
import { groupBy } from "./group-by.ts";
import {
  byProject,
  projectColumns,
  projectMeanOf,
  projectsOf,
  type Row,
  rateOf,
  stuckOf,
  unfinishedOf,
} from "./rates.ts";
import { DAY_US, dayOf, dayText, type Micros, parseDay, SECOND_US } from "./times.ts";

export interface Calendar {
  /** Of the answers: a day in UTC. */
  today: string;
  /** The first one of the calendar. */
  firstDay: number;
  /** When the last walk of the build list that came to a good end began; null while the whole list was never read. */
  coveredThrough: Micros | null;
}

const EARLIEST_DAY = parseDay("2000-01-01");

export const dayOfFact = ({ at }: Fact): number => dayOf(at ?? Number.NaN);

/** Dates from before there was such a service are errors: no calendar begins with them. */
export function firstDayOf(facts: readonly Fact[]): number {
  return Math.min(...facts.map(dayOfFact).filter((day) => day >= EARLIEST_DAY));
}

/** The days of the calendar from the first of these builds to today, and others that have builds. */
export function daysOf(facts: readonly Fact[], { today, firstDay }: Calendar): number[] {
  const own = new Set(facts.map(dayOfFact));
  for (let day = Math.max(Math.min(...own), firstDay); day <= parseDay(today); day++) own.add(day);
  return [...own];
}

export function coverageOf(facts: readonly Fact[], day: number, { coveredThrough, firstDay }: Calendar): Row {
  const covered = coveredThrough ?? -Infinity;
  return {
    is_complete: day > firstDay && (day + 1) * DAY_US <= covered && facts.every(({ isSettled }) => isSettled),
    is_covered: day * DAY_US <= covered,
  };
}

/** Nothing is said of what nobody looked at, but for builds that are known all the same. */
function whereCovered(own: readonly Fact[], coverage: Row, counts: Row): Row {
  const silent = Object.fromEntries(Object.keys(counts).map((column) => [column, null]));
  return { ...(coverage.is_covered || own.length > 0 ? counts : silent), ...coverage };
}

export function dailyRates(facts: readonly Fact[], calendar: Calendar): Row[] {
  const dated = facts.filter(({ at }) => at !== null);
  if (dated.length === 0) return [];
  const byDay = groupBy(dated, dayOfFact);
  return daysOf(dated, calendar).map((day) => {
    const own = byDay.get(day) ?? [];
    const others = { ...projectMeanOf(own), ...projectsOf(own), ...unfinishedOf(own), ...stuckOf(own) };
    const counts = { ...rateOf(own), ...others };
    return { day: dayText(day), ...whereCovered(own, coverageOf(own, day, calendar), counts) };
  });
}

/** Only days and weeks with builds. */
export function dailyRatesByProject(facts: readonly Fact[], calendar: Calendar): Row[] {
  const dated = facts.filter(({ at }) => at !== null);
  return [...byProject(dated).values()].flatMap((builds) =>
    [...groupBy(builds, dayOfFact)].map(([day, own]) => {
      const counts = { ...rateOf(own), ...unfinishedOf(own), ...stuckOf(own) };
      const coverage = coverageOf(own, day, calendar);
      return { day: dayText(day), ...projectColumns(own[0] as Fact), ...counts, ...coverage };
    }),
  );
}

export function dailyTimes(facts: readonly Fact[], calendar: Calendar): Row[] {
  const dated = facts.filter(({ at }) => at !== null);
  if (dated.length === 0) return [];
  const byDay = groupBy(dated, dayOfFact);
  return daysOf(dated, calendar).map((day) => {
    const own = byDay.get(day) ?? [];
    return { day: dayText(day), ...whereCovered(own, coverageOf(own, day, calendar), timesOf(own)) };
  });
}

const isMeasured = ({ at, shortestUs }: Fact): boolean => at !== null && shortestUs !== null;

/** How many finished, and how long they took. */
function timesOf(facts: readonly Fact[]): Row {
  const measured = facts.filter(isMeasured);
  const [shortest, longest] = [
    measured.map(({ shortestUs }) => shortestUs ?? 0),
    measured.map(({ longestUs }) => longestUs ?? Infinity),
  ];
  const bounds = [50, 90, 95].flatMap((percent) => {
    const [least, most] = [percentile(shortest, percent / 100), percentile(longest, percent / 100)];
    const middle = least === null || most === null ? null : (least + most) / 2;
    const isKnown = middle !== null && most !== null && most - middle <= middle / 10;
    return [
      [`p${percent}_s_min`, least],
      [`p${percent}_s_max`, most],
      [`p${percent}_s`, isKnown ? middle : null],
    ];
  });
  return { finished: measured.length, ...Object.fromEntries(bounds) };
}

/** In seconds, between the two values that stand on either side of the share; null where one of these is not finite. */
export function percentile(values: number[], share: number): number | null {
  const sorted = values.sort((a, b) => (a === b ? 0 : a - b));
  const place = share * (sorted.length - 1);
  const low = sorted[Math.floor(place)] ?? Infinity;
  const high = sorted[Math.ceil(place)] ?? Infinity;
  const value = low === high ? low : low + (place - Math.floor(place)) * (high - low);
  return Number.isFinite(value) ? value / SECOND_US : null;
}
