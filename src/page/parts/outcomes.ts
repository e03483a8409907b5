import { counted } from "../../base/text.ts";
import { type Row, sumIn } from "./answers.ts";
import type { Empty } from "./block.ts";
import { type Count, differenceOf } from "./changes.ts";
import { type Span, spansOf } from "./charts.ts";
import { type Days, dayNumber, type Period } from "./period.ts";

const COUNTS = ["builds", "finished", "succeeded", "failed", "unfinished", "stuck"] as const;

/** What became of the builds of some days; complete when all of the days are over, and none of their builds is open. */
export type Outcomes = Readonly<Record<(typeof COUNTS)[number], number>> & { readonly isComplete: boolean };

/** The builds of a span of days; null where no sync has covered any of them. */
export interface SpanOutcomes extends Span {
  readonly outcomes: Outcomes | null;
}

/** How many failed builds of a class each day has. */
export interface Kind {
  readonly name: string;
  readonly byDay: ReadonlyMap<number, number>;
  readonly now: number;
  readonly before: number;
}

/** The outcomes of each span, from rows by day. */
export const outcomesBySpan = (rows: readonly Row[], period: Period): SpanOutcomes[] =>
  spansOf(period).map((span) => ({ ...span, outcomes: outcomesOf(rows, span) }));

/** The outcomes of some days, from rows by day; null where no row says anything. */
export function outcomesOf(rows: readonly Row[], days: Days | null): Outcomes | null {
  if (days === null) return null;
  const known = rows.filter(({ day, finished }) => {
    const number = dayNumber(day);
    return finished !== null && number >= days.first && number <= days.last;
  });
  return known.length === 0 ? null : sumUp(known);
}

function sumUp(rows: readonly Row[]): Outcomes {
  const sums = Object.fromEntries(COUNTS.map((name) => [name, sumIn(rows, name)])) as Omit<
    Outcomes,
    "isComplete"
  >;
  return { ...sums, isComplete: rows.every((row) => row.is_complete === true) };
}

export const NO_BUILDS = sumUp([]);

/** The failures by class, the most frequent of the period first; rows have a day, a class and a count. */
export function kindsOf(rows: readonly Row[], { first, last }: Days): Kind[] {
  const names = new Set(rows.map(({ error_class }) => String(error_class)));
  return [...names]
    .map((name) => {
      const own = rows.filter(({ error_class }) => String(error_class) === name);
      const days = byDay(own, "failures");
      const sum = (isIn: (day: number) => boolean) =>
        [...days].reduce((total, [day, count]) => (isIn(day) ? total + count : total), 0);
      const now = sum((day) => day >= first && day <= last);
      return { name, byDay: days, now, before: sum((day) => day < first) };
    })
    .sort((a, b) => b.now - a.now || b.before - a.before || (a.name < b.name ? -1 : 1));
}

/** Why the failures of some days are none: nothing is known where no build has finished. */
export const noFailures = (finished: number): Empty =>
  finished === 0
    ? ["unknown", "Not known.", "No build of these days has finished."]
    : [
        "none",
        "None failed.",
        `${counted(finished, "build of these days has", "builds of these days have")} finished.`,
      ];

/** A column of rows by day, by the number of the day. */
export const byDay = (rows: readonly Row[], column: string): Map<number, number> =>
  new Map(rows.map((row) => [dayNumber(row.day), Number(row[column] ?? 0)]));

/** Among sixty spans some lie outside of a 95 % interval by chance; 1.6 times as wide, it is one of 99.8 %. */
const WIDER = 1.6;

/** Whether a part of a period has a lower rate than the rest of it, by more than chance. */
export function isSurelyLower(part: Count, whole: Count): boolean {
  const rest = { succeeded: whole.succeeded - part.succeeded, finished: whole.finished - part.finished };
  const difference = differenceOf(part, rest);
  return difference !== null && difference.by + WIDER * (difference.high - difference.by) < 0;
}
