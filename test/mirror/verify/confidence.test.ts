import { describe, expect, it } from "vitest";
import { upperBound } from "../../../src/mirror/verify/confidence.ts";

describe("the upper bound of a share", () => {
  // By the quantile of the beta distribution, as qbeta(0.95, found + 1, checked - found) in R.
  it.each([
    [0, 300, 0.009936082],
    [0, 20, 0.1391083],
    [1, 300, 0.01571455],
    [3, 100, 0.07571079],
    [10, 20, 0.6980461],
    [99, 100, 0.9994872],
    [0, 1, 0.95],
    [0, 100_000, 0.0000299569],
    [1000, 100_000, 0.0105332],
  ])("after %d of %d is %d", (found, checked, bound) => {
    expect(upperBound(found, checked)).toBeCloseTo(bound, 5);
  });

  it("is 1 where nothing was checked, or all was wrong", () => {
    expect([upperBound(0, 0), upperBound(5, 5)]).toEqual([1, 1]);
  });

  it("holds in at least 95 of 100 samples, whatever the share", { tags: ["long"] }, () => {
    for (const share of [0.001, 0.01, 0.1, 0.5, 0.9]) {
      // The chance of each count, so that no sample has to be drawn.
      let term = 300 * Math.log1p(-share);
      let held = 0;
      for (let found = 0; found <= 300; found++) {
        if (upperBound(found, 300) >= share) held += Math.exp(term);
        term += Math.log((300 - found) / (found + 1)) + Math.log(share) - Math.log1p(-share);
      }
      expect(held).toBeGreaterThanOrEqual(0.95 - 1e-9);
    }
  });
});
