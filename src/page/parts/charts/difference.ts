import { wilsonInterval } from "../../../report/wilson-interval.ts";

export interface Count {
  readonly succeeded: number;
  readonly finished: number;
}

/** The difference of two shares, with its 95 % interval. */
export interface Difference {
  /** Share after minus share before, -1 to 1. */
  readonly by: number;
  readonly low: number;
  readonly high: number;
  /** Whether the interval has 0 in it: then chance alone may have made the difference. */
  readonly isChance: boolean;
}

/**
 * The difference between two success rates, by Newcombe's interval from the two Wilson intervals. Null where
 * nothing finished before or after.
 */
export function differenceOf(after: Count, before: Count): Difference | null {
  const [new_, old] = [after, before].map((count) => wilsonInterval(count.succeeded, count.finished));
  if (!new_ || !old) return null;
  const [p, q] = [after.succeeded / after.finished, before.succeeded / before.finished];
  const by = p - q;
  const low = Math.max(-1, by - Math.hypot(p - new_.low, old.high - q));
  const high = Math.min(1, by + Math.hypot(new_.high - p, q - old.low));
  return { by, low, high, isChance: low <= 0 && high >= 0 };
}
