/** Whether builds arrive as usual, and how many came in each of the last 24 hours. */

import type { Fact } from "./facts.ts";
import type { Row } from "./rates.ts";
import type { Raw } from "./raw.ts";
import { DAY_US, dayOf, HOUR_US, type Micros, momentText, SECOND_US, secondsOf } from "./times.ts";

const MINUTE_US = 60 * SECOND_US;
const MOST_DAYS = 28;
const LEAST_DAYS = 14;
const LEAST_USUAL = 10;

type Dated = Fact & { at: Micros };

/** The builds until then, the last one, and how many whole days before it builds are known of. */
function lookAt(facts: readonly Fact[], lookedAt: Micros) {
  const builds = facts
    .filter((fact): fact is Dated => fact.at !== null && fact.at <= lookedAt)
    .toSorted((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));
  const last = builds.at(-1);
  const oldest = builds.find(({ at }) => last !== undefined && at > last.at - 35 * DAY_US);
  if (last === undefined || oldest === undefined) return null;
  return { lookedAt, builds, last, days: Math.min(MOST_DAYS, Math.floor((last.at - oldest.at) / DAY_US)) };
}

type World = NonNullable<ReturnType<typeof lookAt>>;

export function arrivals(facts: readonly Fact[], raw: Raw, lookedAt: Micros | null): Row[] {
  const none = {
    last_build_id: null,
    last_build_at: null,
    gap_s: null,
    longest_gap_s: null,
    days_known: 0,
    usual_since: null,
    fewest_since: null,
    most_since: null,
    builds_24h: 0,
    usual_24h: null,
    fewest_24h: null,
    state: "unknown",
  };
  if (lookedAt === null) return [{ ...none, looked_at: null, reason: "not_read" }];
  const world = lookAt(facts, lookedAt);
  if (world === null) return [{ ...none, looked_at: momentText(lookedAt), reason: "no_builds" }];

  const { builds, last, days } = world;
  /** After the one moment, up to the other. */
  const between = (after: Micros, upTo: Micros) => builds.filter(({ at }) => at > after && at <= upTo).length;
  const gap = lookedAt - last.at;
  const span = Math.min(gap, DAY_US);
  const shifts = Array.from({ length: days }, (_, place) => place + 1);
  const since = shifts.map((shift) => between(last.at - shift * DAY_US, last.at - shift * DAY_US + span));
  const daily = shifts
    .slice(0, -1)
    .map((shift) => between(lookedAt - (shift + 1) * DAY_US, lookedAt - shift * DAY_US));
  const known = builds.filter(({ at }) => at >= last.at - days * DAY_US);
  const gaps = known.flatMap(({ at }, place) => (place === 0 ? [] : [at - (known[place - 1] as Dated).at]));
  const longest = gaps.length === 0 ? null : Math.max(60 * SECOND_US, ...gaps);
  const usual = medianOfWeeks(since);
  const today = between(lookedAt - DAY_US, lookedAt);
  const usualToday = medianOfWeeks(daily);
  const fewestToday = least(daily);
  const isShort = days < LEAST_DAYS && gap <= MOST_DAYS * DAY_US;
  const reason = hasWrongDates(facts, raw, world) ? "clock" : isShort ? "too_few_days" : null;
  const state = (() => {
    if (reason !== null) return "unknown";
    if (gap > MOST_DAYS * DAY_US) return "dormant";
    if (usual !== null && usual >= LEAST_USUAL && longest !== null) {
      if (gap > 2 * longest) return "quiet";
      if (gap > longest) return "late";
    }
    const isFew = usualToday !== null && usualToday >= LEAST_USUAL && today < (fewestToday ?? 0);
    return isFew ? "few" : "usual";
  })();
  const most_since = since.length === 0 ? null : Math.max(...since);
  return [
    {
      looked_at: momentText(lookedAt),
      state,
      reason,
      days_known: days,
      last_build_id: last.id,
      last_build_at: momentText(last.at),
      gap_s: secondsOf(gap),
      longest_gap_s: secondsOf(longest),
      usual_since: usual,
      fewest_since: least(since),
      most_since,
      builds_24h: today,
      usual_24h: usualToday,
      fewest_24h: fewestToday,
    },
  ];
}

/** Of the values of the days 7, 14, 21 and 28 the middle one, the lower of two. */
function medianOfWeeks(byDay: readonly number[]): number | null {
  const weekly = byDay.filter((_, place) => (place + 1) % 7 === 0).toSorted((a, b) => a - b);
  return weekly[Math.ceil(weekly.length / 2) - 1] ?? null;
}

const least = (values: readonly number[]): number | null =>
  values.length === 0 ? null : Math.min(...values);

/** A build that a look after its date did not show, or that was seen before its date. */
function hasWrongDates(facts: readonly Fact[], { walks }: Raw, { last, lookedAt }: World): boolean {
  const until = last.at + 15 * MINUTE_US;
  const isMissed = walks.some(
    ({ walk, started_at, finished_at }) =>
      (walk === "whole" || walk === "head") &&
      finished_at !== null &&
      started_at > until &&
      finished_at < last.firstSeenAt,
  );
  const isAhead = facts.some(
    ({ at, firstSeenAt }) => at !== null && at > lookedAt && at > firstSeenAt + 5 * MINUTE_US,
  );
  return (last.firstSeenAt > until && isMissed) || isAhead;
}

export function arrivalsHourly(facts: readonly Fact[], lookedAt: Micros | null): Row[] {
  if (lookedAt === null) return [];
  const world = lookAt(facts, lookedAt);
  const newest = Math.floor(lookedAt / HOUR_US) * HOUR_US;
  return Array.from({ length: 24 }, (_, place) => {
    const hour = newest - place * HOUR_US;
    const took = Math.min(HOUR_US, lookedAt - hour);
    const count = (from: Micros, until: Micros) =>
      (world?.builds ?? []).filter(({ at }) => at >= from && at < until).length;
    const starts = Array.from({ length: MOST_DAYS }, (_, day) => hour - (day + 1) * DAY_US).filter(
      (start) =>
        world !== null &&
        world.days >= LEAST_DAYS &&
        start + took <= world.last.at &&
        start >= world.last.at - world.days * DAY_US &&
        isWeekend(start) === isWeekend(hour),
    );
    const counts = starts.map((start) => count(start, start + took)).toSorted((a, b) => a - b);
    const at = (share: number) => counts[Math.round(share * (counts.length - 1))] ?? null;
    return {
      hour: momentText(hour),
      builds: count(hour, hour + HOUR_US),
      usual_low: counts.length === 0 ? null : at(0.1),
      usual_high: counts.length === 0 ? null : at(0.9),
      until: momentText(hour + took),
    };
  });
}

/** Day 0 was a Thursday. */
const isWeekend = (at: Micros): boolean => [2, 3].includes(((dayOf(at) % 7) + 7) % 7);
