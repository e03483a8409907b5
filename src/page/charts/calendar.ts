import { grouped } from "../words.ts";
import type { Frame } from "./frame.ts";

export const DAY_MS = 86_400_000;
/** More days would be too thin to see. The newest days are drawn. */
export const MAX_DAYS = 400;

/** Day rows as `report` gives them, oldest first. */
export interface Day {
  /** A UTC day as YYYY-MM-DD. */
  readonly day: string;
  readonly is_complete: boolean;
  readonly is_covered: boolean;
}

export interface Calendar<Row extends Day> {
  readonly days: readonly Row[];
  /** In milliseconds. `to` is the end of the last day. */
  readonly from: number;
  readonly to: number;
  /** Says which days were left out. Undefined when there are none. */
  readonly note: string | undefined;
}

/**
 * The days to draw, or null when there are none. A day far in the future, from a build with a wrong date, is
 * left out because it would leave no room for the others.
 */
export function createCalendar<Row extends Day>(rows: readonly Row[]): Calendar<Row> | null {
  const hole = rows.findIndex((row, at) => startOf(row.day) - startOf(rows[at - 1]?.day ?? row.day) > DAY_MS);
  const known = hole < 0 ? rows : rows.slice(0, hole);
  const days = known.slice(-MAX_DAYS);
  const [first, last] = [days.at(0), days.at(-1)];
  if (first === undefined || last === undefined) return null;
  const notes = [
    days.length < known.length &&
      `The newest ${days.length} of ${grouped(known.length)} days are drawn; the table has them all.`,
    known.length < rows.length && "Builds with a date in the future are only in the table.",
  ].filter((note) => note !== false);
  return {
    days,
    from: startOf(first.day),
    to: startOf(last.day) + DAY_MS,
    note: notes.length > 0 ? notes.join(" ") : undefined,
  };
}

/** When the UTC day begins, in milliseconds. */
export function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/**
 * The axis of days, shared by all layers of a chart. Its labels are at the starts of days: every day,
 * Mondays, or first days of a month.
 */
export function dayAxis({ from, to }: { from: number; to: number }, frame: Frame) {
  const { values, format } = chooseDates(from, to, frame.dateLabels);
  return {
    type: "temporal" as const,
    // Written as two dates it would conflict with itself where a mark has two ends.
    scale: { type: "utc" as const, domain: { expr: `[${from}, ${to}]` } },
    axis: { values, format, title: null, grid: false, labelOverlap: false },
  };
}

/** Chooses as many dates as there is room for. */
export function chooseDates(from: number, to: number, atMost: number): { values: number[]; format: string } {
  const days: number[] = [];
  for (let day = from; day < to; day += DAY_MS) days.push(day);
  if (days.length <= atMost) return { values: days, format: "%-d %b" };
  const mondays = days.filter((day) => new Date(day).getUTCDay() === 1);
  if (mondays.length <= atMost * 4) return { values: thin(mondays, atMost), format: "%-d %b" };
  const firsts = days.filter((day) => new Date(day).getUTCDate() === 1);
  return { values: thin(firsts, atMost), format: "%b %Y" };
}

function thin(days: readonly number[], atMost: number): number[] {
  const step = Math.ceil(days.length / atMost);
  return days.filter((_, index) => index % step === 0);
}
