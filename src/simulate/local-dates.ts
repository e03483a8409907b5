import { createZoneOffset } from "../base/clock.ts";

/** Microseconds since 1970; a double holds them exactly. */
export type Micros = number;

export const SECOND: Micros = 1e6;
export const HOUR: Micros = 3600e6;
export const DAY: Micros = 86400e6;

const MINUTE = HOUR / 60;
const QUARTER_HOUR = HOUR / 4;

export type LocalDates = ReturnType<typeof createLocalDates>;

/** Throws a RangeError for an unknown zone. */
export function createLocalDates(timeZone: string) {
  const isUtc = timeZone === "Etc/UTC" || timeZone === "UTC";
  const minutesAhead = createZoneOffset(timeZone);
  // Each call of Intl takes microseconds, and offsets only change at quarters of an hour.
  const offsets = new Map<number, Micros>();

  function offsetAt(moment: Micros): Micros {
    const quarter = Math.floor(moment / QUARTER_HOUR);
    const known = offsets.get(quarter);
    if (known !== undefined) return known;
    const offset = minutesAhead(new Date((quarter * QUARTER_HOUR) / 1000)) * MINUTE;
    offsets.set(quarter, offset);
    return offset;
  }

  return {
    /** The local time at a moment, as if it were UTC. The hour at the end of summer time occurs twice. */
    toLocal: (moment: Micros): Micros => (isUtc ? moment : moment + offsetAt(moment)),
    /** A local date as the service writes it: without a zone, and without a fraction of zero. */
    write(local: Micros): string {
      const seconds = Math.floor(local / SECOND);
      const fraction = local - seconds * SECOND;
      const text = new Date(seconds * 1000).toISOString().slice(0, 19);
      return fraction === 0 ? text : `${text}.${String(fraction).padStart(6, "0")}`;
    },
  };
}
