import { createTask, parse } from "node-cron";

/** A line such as "29 February, if a Monday" is due once in 28 years, or in 40 years across 2100. */
const DAYS_BACK = 41 * 366;
const DAY_MS = 86_400_000;

export interface DueTimes {
  /** The last moment, up to `now`, at which the line was due; null when there was none in 40 years. */
  last(now: Date): Date | null;
}

/**
 * Finds when a cron line was due in a time zone. node-cron only looks ahead, and skips a night when the
 * clocks jump over the line's time. Here such a night is due later by the length of the jump (02:17 becomes
 * 03:17), so that it is not skipped. Throws an Error for a line or a zone that cannot be read.
 */
export function createDueTimes(cron: string, timezone: string): DueTimes {
  const { hour, minute, second } = parse(cron);
  const timesMs = hour
    .flatMap((h) => minute.flatMap((m) => second.map((s) => (h * 3600 + m * 60 + s) * 1000)))
    .sort((a, b) => b - a);
  const [someTimeMs = 0] = timesMs;
  // Days are matched as if the zone were UTC, where every time exists. A destroyed task still matches.
  const task = createTask(cron, () => {}, { timezone: "Etc/UTC" });
  void task.destroy();
  const toWall = createWallClock(timezone);

  function lastOnDay(dayMs: number, nowMs: number): number | undefined {
    const offsets = [offsetAt(dayMs - DAY_MS), offsetAt(dayMs + 2 * DAY_MS)];
    const [least, most] = [Math.min(...offsets), Math.max(...offsets)];
    let newest: number | undefined;
    for (const timeMs of timesMs) {
      const wallMs = dayMs + timeMs;
      if (wallMs - most > nowMs) continue;
      // Times go down, and so do the moments, except on a day when the clocks change.
      if (newest !== undefined && wallMs - least <= newest) break;
      const atMs = momentOf(wallMs);
      if (atMs <= nowMs && (newest === undefined || atMs > newest)) newest = atMs;
    }
    return newest;
  }

  /**
   * Where a time comes twice in a night, chooses the same moment as node-cron, so that the night has one due
   * time.
   */
  function momentOf(wallMs: number): number {
    const first = wallMs - offsetAt(wallMs);
    const second = wallMs - offsetAt(first);
    if (first === second || toWall(first) === wallMs) return first;
    return toWall(second) === wallMs ? second : Math.max(first, second);
  }

  function offsetAt(atMs: number): number {
    return toWall(atMs) - atMs;
  }

  return {
    last(now) {
      const nowMs = Math.floor(now.getTime() / 1000) * 1000;
      const today = Math.floor(toWall(nowMs) / DAY_MS) * DAY_MS;
      for (let back = 0; back < DAYS_BACK; back++) {
        const dayMs = today - back * DAY_MS;
        if (!task.match(new Date(dayMs + someTimeMs))) continue;
        const found = lastOnDay(dayMs, nowMs);
        if (found !== undefined) return new Date(found);
      }
      return null;
    },
  };
}

/** Converts a moment to local time, as the UTC milliseconds that read the same. Whole seconds. */
function createWallClock(timezone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: timezone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  return (atMs) => {
    const parts = new Map(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
    return Date.UTC(
      part("year"),
      part("month") - 1,
      part("day"),
      part("hour"),
      part("minute"),
      part("second"),
    );
  };
}
