import { createTask, parse } from "node-cron";
import { createZoneOffset } from "./clock.ts";
import { splitDays } from "./config/cron-line.ts";

/** A line such as "the fifth Monday of February" is due once in 28 years, or in 40 years across 2100. */
const MOST_DAYS = 41 * 366;
const DAY_MS = 86_400_000;

/**
 * Finds when a cron line was due in a time zone. node-cron only looks ahead, and skips a night when the
 * clocks jump over the line's time. Here such a night is due later by the length of the jump (02:17 becomes
 * 03:17), so that it is not skipped. Where an hour comes twice, a line of each hour is due in both. With both day fields a line
 * is due on either. Throws an Error for a line or a zone that cannot be read.
 */
export function createDueTimes(cron: string, timezone: string) {
  const { hour, minute, second } = parse(cron);
  const isOfEachHour = hour.length === 24;
  const timesMs = hour
    .flatMap((h) => minute.flatMap((m) => second.map((s) => (h * 3600 + m * 60 + s) * 1000)))
    .sort((a, b) => a - b);
  const [someTimeMs = 0] = timesMs;
  const latestFirst = timesMs.toReversed();
  // Days are matched as if the zone were UTC, where every time exists. A destroyed task still matches.
  const tasks = splitDays(cron).map((line) => createTask(line, () => {}, { timezone: "Etc/UTC" }));
  for (const task of tasks) void task.destroy();
  const minutesAhead = createZoneOffset(timezone);

  /** The moment of a day at which the line is due, nearest to `nowMs` on the side of `step`: up to it, or after it. */
  function findOnDay(dayMs: number, nowMs: number, step: -1 | 1): number | undefined {
    const { least, most } = offsetsAround(dayMs);
    const [near, far] = step < 0 ? [most, least] : [least, most];
    const isOnSide = (atMs: number) => (step < 0 ? atMs <= nowMs : atMs > nowMs);
    let found: number | undefined;
    for (const timeMs of step < 0 ? latestFirst : timesMs) {
      const wallMs = dayMs + timeMs;
      if (!isOnSide(wallMs - near)) continue;
      // Times go one way, and so do the moments, except on a day when the clocks change.
      if (found !== undefined && step * (wallMs - far - found) >= 0) break;
      const twice = [wallMs - most, wallMs - least].filter((atMs) => isOfEachHour && toWall(atMs) === wallMs);
      for (const atMs of twice.length > 0 ? twice : [momentOf(wallMs)])
        if (isOnSide(atMs) && (found === undefined || step * (atMs - found) < 0)) found = atMs;
    }
    return found;
  }

  function offsetsAround(dayMs: number): { least: number; most: number } {
    const offsets = [offsetAt(dayMs - DAY_MS), offsetAt(dayMs + 2 * DAY_MS)];
    return { least: Math.min(...offsets), most: Math.max(...offsets) };
  }

  /** Where a time comes twice in a night, chooses the moment that node-cron does: the night has one due time. */
  function momentOf(wallMs: number): number {
    const first = wallMs - offsetAt(wallMs);
    const second = wallMs - offsetAt(first);
    if (first === second || toWall(first) === wallMs) return first;
    return toWall(second) === wallMs ? second : Math.max(first, second);
  }

  function offsetAt(atMs: number): number {
    return minutesAhead(new Date(atMs)) * 60_000;
  }

  /** Local time, as the UTC milliseconds that read the same. */
  function toWall(atMs: number): number {
    return atMs + offsetAt(atMs);
  }

  /**
   * Looks at one day after the other on the side of `step`. Begins a day early and ends a day late, because a
   * jump over midnight, or over a whole day, moves times among those of another day.
   */
  function search(now: Date, step: -1 | 1): Date | null {
    const nowMs = Math.floor(now.getTime() / 1000) * 1000;
    const today = Math.floor(toWall(nowMs) / DAY_MS) * DAY_MS;
    const nearest = step < 0 ? Math.max : Math.min;
    const find = (days: number) => {
      const dayMs = today + step * days * DAY_MS;
      const isOfDay = tasks.some((task) => task.match(new Date(dayMs + someTimeMs)));
      return isOfDay ? findOnDay(dayMs, nowMs, step) : undefined;
    };
    for (let days = -1; days < MOST_DAYS; days++) {
      const found = find(days);
      if (found !== undefined) return new Date(nearest(found, find(days + 1) ?? found));
    }
    return null;
  }

  return {
    /** The last moment, up to `now`, at which the line was due; null when there was none in 40 years. */
    last: (now: Date) => search(now, -1),
    /** The next moment after `now` at which the line is due; null when there is none in 40 years. */
    next: (now: Date) => search(now, 1),
  };
}
