/** Times as the model counts them, and as Postgres prints them. A moment is whole microseconds since 1970 in UTC, a day days since then. */
import { createZoneOffset } from "../../../src/base/clock.ts";

export type Micros = number;

export const SECOND_US = 1_000_000;
export const HOUR_US = 3600 * SECOND_US;
export const DAY_US = 24 * HOUR_US;
const QUARTER_US = HOUR_US / 4;

interface LocalReading {
  /** What Postgres' `AT TIME ZONE` makes of it: the offset before the clocks skip an hour, the one after they repeat it. */
  at: Micros;
  isAmbiguous: boolean;
}

/** Reads local times of a zone, `2025-06-02 05:00:00.123456`. */
export function createLocalReader(zone: string): (local: string) => LocalReading {
  const findOffset = createZoneOffset(zone);
  const known = new Map<Micros, Micros>();
  const lookUp = (at: Micros): Micros => {
    const offset = known.get(at) ?? findOffset(new Date(at / 1000)) * 60 * SECOND_US;
    known.set(at, offset);
    return offset;
  };
  /** A zone changes its clocks at whole quarters of an hour, on few days. */
  const offsetAt = (at: Micros): Micros => {
    const day = Math.floor(at / DAY_US) * DAY_US;
    const isSteady = lookUp(day) === lookUp(day + DAY_US);
    return lookUp(isSteady ? day : Math.floor(at / QUARTER_US) * QUARTER_US);
  };
  return (local) => {
    const face = parseMoment(local);
    const before = face - offsetAt(face - DAY_US);
    const after = face - offsetAt(face + DAY_US);
    const fits = [before, after].map((at) => at + offsetAt(at) === face);
    if (before === after) return { at: before, isAmbiguous: false };
    if (fits[0] !== fits[1]) return { at: fits[0] ? before : after, isAmbiguous: false };
    return { at: fits[0] ? after : before, isAmbiguous: true };
  };
}

/** Reads what Postgres prints for a time in UTC or without a zone. */
export function parseMoment(text: string): Micros {
  const [, date, time, fraction = ""] = /^(\S+)[ T](\d\d:\d\d:\d\d)(?:\.(\d+))?/.exec(text) ?? [];
  return Date.parse(`${date}T${time}Z`) * 1000 + Number(fraction.padEnd(6, "0"));
}

/** Prints a moment as Postgres does in UTC. */
export function momentText(at: Micros): string {
  const fraction = String(at - Math.floor(at / SECOND_US) * SECOND_US).padStart(6, "0");
  const whole = new Date(Math.floor(at / SECOND_US) * 1000).toISOString().slice(0, 19).replace("T", " ");
  return `${whole}${`.${fraction}`.replace(/\.?0+$/, "")}+00`;
}

/** The same of a moment that may not be known, and of a length in seconds. */
export const textOf = (at: Micros | null | undefined): string | null => (at == null ? null : momentText(at));
export const secondsOf = (us: number | null): number | null => (us === null ? null : us / SECOND_US);

export const dayOf = (at: Micros): number => Math.floor(at / DAY_US);
/** The Monday of a day's week; day 0 was a Thursday. */
export const mondayOf = (day: number): number => day - ((((day + 3) % 7) + 7) % 7);
export const dayText = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);
export const parseDay = (text: string): number => Date.parse(`${text}T00:00:00Z`) / 86_400_000;

/** A week belongs to the year that its Thursday lies in, and has the number of that Thursday in the year. */
export function isoWeekText(day: number): string {
  const thursday = mondayOf(day) + 3;
  const year = dayText(thursday).slice(0, 4);
  const week = Math.floor((thursday - parseDay(`${year}-01-01`)) / 7) + 1;
  return `${year}-W${String(week).padStart(2, "0")}`;
}
