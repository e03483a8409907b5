import type { Period, PeriodChoice } from "../parts/period.ts";

export interface TrendsChoice extends PeriodChoice {
  /** A type of builds. */
  readonly type: string | undefined;
}

/** What the blocks of trends are about. */
export interface TrendsScope {
  readonly choice: TrendsChoice;
  /** Of the choice. */
  readonly type: string | undefined;
  readonly period: Period;
  readonly now: Date;
}

/** What narrows the files of most blocks. */
export const CHOSEN = { since: null, until: null, type: null };

/** A question about builds one by one may look at so many days, so that it stays quick in a mirror of millions. */
export const MOST_BUILD_DAYS = 62;
/** Hours and phases of builds are looked at for so many days, the last of the period. */
export const LATE_DAYS = 14;
/** The last days of a period, which questions about builds one by one look at. */
export const lateOf = (period: Period): Period => ({
  ...period,
  first: Math.max(period.first, period.last - LATE_DAYS + 1),
});
