import { type Span, spansOf } from "./axes.ts";
import type { Row } from "./block.ts";
import { type Count, differenceOf } from "./changes.ts";
import { type Days, dayNumber, type Period } from "./period.ts";

/** What became of the builds of some days. */
export interface Outcomes extends Count {
  readonly builds: number;
  readonly failed: number;
  readonly unfinished: number;
  readonly stuck: number;
  /** Whether all of its days are over, and none of their builds is open. */
  readonly isComplete: boolean;
}

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

export const NO_BUILDS: Outcomes = {
  builds: 0,
  finished: 0,
  succeeded: 0,
  failed: 0,
  unfinished: 0,
  stuck: 0,
  isComplete: true,
};

/** The outcomes of each span, from rows by day. */
export function outcomesBySpan(rows: readonly Row[], period: Period): SpanOutcomes[] {
  return spansOf(period).map((span) => ({ ...span, outcomes: outcomesOf(rows, span) }));
}

/** The outcomes of some days, from rows by day; null where no row says anything. */
export function outcomesOf(rows: readonly Row[], days: Days | null): Outcomes | null {
  if (days === null) return null;
  const known = rows.filter(({ day, finished }) => {
    const number = dayNumber(day);
    return finished !== null && number >= days.first && number <= days.last;
  });
  if (known.length === 0) return null;
  const sum = (name: string) => known.reduce((total, row) => total + Number(row[name] ?? 0), 0);
  return {
    builds: sum("builds"),
    finished: sum("finished"),
    succeeded: sum("succeeded"),
    failed: sum("failed"),
    unfinished: sum("unfinished"),
    stuck: sum("stuck"),
    isComplete: known.every((row) => row.is_complete === true),
  };
}

/** The failures by class, the most frequent of the period first; rows have a day, a class and a count. */
export function kindsOf(rows: readonly Row[], { first, last }: Days): Kind[] {
  const byKind = new Map<string, Map<number, number>>();
  for (const { day, error_class, failures } of rows) {
    const name = String(error_class);
    const byDay = byKind.get(name) ?? new Map<number, number>();
    byDay.set(dayNumber(day), Number(failures));
    byKind.set(name, byDay);
  }
  const sum = (byDay: Map<number, number>, isIn: (day: number) => boolean) =>
    [...byDay].reduce((total, [day, count]) => (isIn(day) ? total + count : total), 0);
  return [...byKind]
    .map(([name, byDay]) => ({
      name,
      byDay,
      now: sum(byDay, (day) => day >= first && day <= last),
      before: sum(byDay, (day) => day < first),
    }))
    .sort((a, b) => b.now - a.now || b.before - a.before || (a.name < b.name ? -1 : 1));
}

/** A column of rows by day, by the number of the day. */
export function byDay(rows: readonly Row[], column: string): Map<number, number> {
  return new Map(rows.map((row) => [dayNumber(row.day), Number(row[column] ?? 0)]));
}

/** Among sixty spans some lie outside of a 95 % interval by chance; 1.6 times as wide, it is one of 99.8 %. */
const WIDER = 1.6;

/** Whether a part of a period has a lower rate than the rest of it, by more than chance. */
export function isSurelyLower(part: Count, whole: Count): boolean {
  const rest = { succeeded: whole.succeeded - part.succeeded, finished: whole.finished - part.finished };
  const difference = differenceOf(part, rest);
  return difference !== null && difference.by + WIDER * (difference.high - difference.by) < 0;
}
