import type { Days, Period } from "../period.ts";

/** More marks than these blur on a phone. */
const MOST_MARKS = 62;
/** The lengths that a mark may stand for, in days. */
const LENGTHS = [1, 7, 28, 364];

/** The days that one mark of a chart stands for. */
export interface Span extends Days {
  readonly days: number;
  /** Whether it belongs to the period before. */
  readonly isBefore: boolean;
}

/**
 * The days of a period, and of the one before it, in spans of 1, 7, 28 or 364 days. Each period is cut from its
 * end, so that no span belongs to both; its first one may be shorter.
 */
export function spansOf({ before, first, last, start }: Period): Span[] {
  const most = MOST_MARKS;
  const length = LENGTHS.find((days) => (last - start + 1) / days <= most) ?? 364;
  return [...(before === null ? [] : cut(before, length, true)), ...cut({ first, last }, length, false)];
}

function cut({ first, last }: Days, length: number, isBefore: boolean): Span[] {
  const spans: Span[] = [];
  for (let end = last; end >= first; end -= length) {
    const begin = Math.max(first, end - length + 1);
    spans.unshift({ first: begin, last: end, days: end - begin + 1, isBefore });
  }
  return spans;
}

/** What a mark stands for: `day`, `week`, or `28 days`. */
export function spanNoun(spans: readonly Span[]): string {
  const longest = Math.max(1, ...spans.map(({ days }) => days));
  return longest === 1 ? "day" : longest <= 7 ? "week" : longest <= 28 ? "28 days" : "year";
}
