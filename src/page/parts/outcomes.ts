/** The outcomes of builds by days: sums over rows that each have a day. */
import { sumIn } from "./answers.ts";
import { type Count, differenceOf } from "./changes.ts";
import { type Span, spansOf } from "./charts.ts";
import { type Days, type Period, rowsIn } from "./period.ts";

interface Counts {
  readonly builds: number;
  readonly finished: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly unfinished: number;
}

/** A day of `report.success_rate_daily`; its counts are null where no sync has covered it. */
export type OutcomesRow = { readonly [Name in keyof Counts]: number | null } & {
  readonly day: string;
  readonly is_complete: boolean | null;
};

/** The outcomes of the builds of some days; complete when all of the days are over, and none of their builds is open. */
export interface Outcomes extends Counts {
  readonly isComplete: boolean;
}

/** The rows of each span; its outcomes are null where no sync has covered any of its days. */
export const outcomesBySpan = <R extends OutcomesRow>(rows: readonly R[], period: Period) =>
  spansOf(period).map((span): SpanOutcomes & { readonly rows: readonly R[] } => ({
    ...span,
    rows: rowsIn(rows, span),
    outcomes: outcomesOf(rows, span),
  }));

export interface SpanOutcomes extends Span {
  readonly outcomes: Outcomes | null;
}

/** The outcomes of some days; null where no row says anything of them. */
export function outcomesOf(rows: readonly OutcomesRow[], days: Days | null): Outcomes | null {
  const known = days === null ? [] : rowsIn(rows, days).filter(({ finished }) => finished !== null);
  return known.length === 0 ? null : sumUp(known);
}

function sumUp(rows: readonly OutcomesRow[]): Outcomes {
  const sum = (name: keyof Counts) => sumIn(rows, name);
  return {
    builds: sum("builds"),
    finished: sum("finished"),
    succeeded: sum("succeeded"),
    failed: sum("failed"),
    unfinished: sum("unfinished"),
    isComplete: rows.every(({ is_complete }) => is_complete === true),
  };
}

export const NO_BUILDS = sumUp([]);

/** Among sixty spans some lie outside of a 95 % interval by chance; 1.6 times as wide, it is one of 99.8 %. */
const WIDER = 1.6;

/** A part of a period has a lower rate than the rest of it, by more than chance. */
export function isSurelyLower(part: Counts, whole: Counts): boolean {
  const rest: Count = {
    succeeded: whole.succeeded - part.succeeded,
    finished: whole.finished - part.finished,
  };
  const difference = differenceOf(part, rest);
  return difference !== null && difference.by + WIDER * (difference.high - difference.by) < 0;
}
