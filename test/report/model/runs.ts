/** How often results change in random order: every order is counted, without a formula. */

/** The chance of 0, 1, 2, … flips, when so many successes and failures come in any order. */
export function chanceOfFlips(succeeded: number, failed: number): number[] {
  /** The orders of what is left, after a success or a failure, by their flips. */
  const ordersAfter = (last: boolean | null, successes: number, failures: number): number[] => {
    const key = `${last} ${successes} ${failures}`;
    const counted = known.get(key);
    if (counted) return counted;
    const orders: number[] = [];
    const add = (next: boolean, more: readonly number[]) => {
      const flip = last !== null && last !== next ? 1 : 0;
      for (const [flips, count] of more.entries()) orders[flips + flip] = (orders[flips + flip] ?? 0) + count;
    };
    if (successes + failures === 0) orders[0] = 1;
    if (successes > 0) add(true, ordersAfter(true, successes - 1, failures));
    if (failures > 0) add(false, ordersAfter(false, successes, failures - 1));
    const filled = Array.from(orders, (count) => count ?? 0);
    known.set(key, filled);
    return filled;
  };
  const orders = ordersAfter(null, succeeded, failed);
  const all = orders.reduce((sum, count) => sum + count, 0);
  return orders.map((count) => count / all);
}

const known = new Map<string, number[]>();

/** Benjamini and Hochberg's step up: from the largest value down, none is adjusted to more than the one above it. */
export function adjustForTries(values: readonly number[]): Map<number, number> {
  const adjusted = new Map<number, number>();
  let least = 1;
  for (const [above, value] of values.toSorted((a, b) => b - a).entries()) {
    least = Math.min(least, (value * values.length) / (values.length - above));
    adjusted.set(value, least);
  }
  return adjusted;
}
