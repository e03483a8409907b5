import { createTask, parse } from "node-cron";

/** Lines such as "29 February, if a Monday" come round once in 28 years, and once in 40 across 2100. */
const DAYS_BACK = 41 * 366;
const DAY_MS = 86_400_000;

export interface DueTimes {
  /** The newest moment at which the line was due, at `now` or before; null when there was none in 40 years. */
  last(now: Date): Date | null;
}

/**
 * When a cron line was due in a time zone. node-cron only looks ahead, and passes over a night whose time the clocks jump
 * over; here such a night is due by as much later as they jump (02:17 becomes 03:17), so that it is made up for.
 * Throws an Error for a line or a zone that cannot be read.
 */
export function createDueTimes(cron: string, timezone: string): DueTimes {
  const { hour, minute, second } = parse(cron);
  const timesMs = hour
    .flatMap((h) => minute.flatMap((m) => second.map((s) => (h * 3600 + m * 60 + s) * 1000)))
    .sort((a, b) => b - a);
  const [someTimeMs = 0] = timesMs;
  // Days are looked at as if the zone were UTC, where every time exists. A task that is destroyed still matches.
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
      // Times go down, and the moments with them, but for a day on which the clocks change.
      if (newest !== undefined && wallMs - least <= newest) break;
      const atMs = momentOf(wallMs);
      if (atMs <= nowMs && (newest === undefined || atMs > newest)) newest = atMs;
    }
    return newest;
  }

  /** Chooses as node-cron does between the two moments of a time that comes twice, so that one night has one due time. */
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

/** What the clocks on the wall show at a moment, as the milliseconds at which they show the same in UTC. Whole seconds. */
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
