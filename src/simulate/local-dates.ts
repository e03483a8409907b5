/** Microseconds since 1970; a double holds them exactly. */
export type Micros = number;

export const SECOND: Micros = 1e6;
export const HOUR: Micros = 3600e6;
export const DAY: Micros = 86400e6;

const QUARTER_HOUR = HOUR / 4;

export interface LocalDates {
  /** The local time at a moment, as if it were UTC. The hour at the end of summer time occurs twice. */
  toLocal(moment: Micros): Micros;
  /** A local date as the service writes it: without a zone, and without a fraction of zero. */
  write(local: Micros): string;
}

/** Throws a RangeError for an unknown zone. */
export function createLocalDates(timeZone: string): LocalDates {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  // Each call of Intl takes microseconds, and offsets only change at quarters of an hour.
  const offsets = new Map<number, Micros>();

  function offsetAt(moment: Micros): Micros {
    const quarter = Math.floor(moment / QUARTER_HOUR);
    const known = offsets.get(quarter);
    if (known !== undefined) return known;
    const start = (quarter * QUARTER_HOUR) / 1000;
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(start)) part[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = part;
    const offset = (Date.UTC(year, month - 1, day, hour, minute) - start) * 1000;
    offsets.set(quarter, offset);
    return offset;
  }

  return {
    toLocal:
      timeZone === "Etc/UTC" || timeZone === "UTC"
        ? (moment) => moment
        : (moment) => moment + offsetAt(moment),
    write(local) {
      const seconds = Math.floor(local / SECOND);
      const fraction = local - seconds * SECOND;
      const text = new Date(seconds * 1000).toISOString().slice(0, 19);
      return fraction === 0 ? text : `${text}.${String(fraction).padStart(6, "0")}`;
    },
  };
}
