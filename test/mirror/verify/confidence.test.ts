import { describe, expect, it } from "vitest";
import {
  countKinds,
  type DrawnLook,
  FAULT_KINDS,
  type FaultKind,
  upperBound,
} from "../../../src/mirror/verify/confidence.ts";
import { createRandom } from "../../support/model-list.ts";

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

describe("the claim of a check about each kind of fault", () => {
  const RECORDS = 2000;
  const SAMPLE = 300;

  /** A check as `verifyMirror` draws it: half by the ids that are here, half by the places there, none of each twice. */
  function check(kind: FaultKind, planted: number, random: () => number) {
    const draw = (from: number, below: number) => {
      const drawn = new Set<number>();
      while (drawn.size < SAMPLE / 2) drawn.add(from + Math.floor(random() * (below - from)));
      return drawn;
    };
    // The planted ones come first. Those that are missing have no id here, and those that are extra no place there.
    const here = draw(kind === "missing" ? planted : 0, RECORDS);
    const there = draw(kind === "extra" ? planted : 0, RECORDS);
    const looks = [...new Set([...here, ...there])].map((at): DrawnLook => {
      const isFound = at < planted;
      // Without a night in between nothing proves that a side lacks it.
      const verdict = isFound ? (kind === "fields" ? "wrong" : "changed") : "equal";
      return {
        isDrawnHere: here.has(at),
        isDrawnThere: there.has(at),
        verdict,
        kind: isFound ? kind : null,
      };
    });
    return countKinds(looks);
  }

  const cases = FAULT_KINDS.flatMap((kind) => [1, 10, 100].map((planted) => [kind, planted] as const));
  it.each(cases)("is false in at most 5 of 100 checks: %s, %i planted", (kind, planted) => {
    const random = createRandom(20261128 + planted);
    const runs = 1500;
    const share = planted / RECORDS;
    let wrong = 0;
    for (let run = 0; run < runs; run++) {
      const { found, checked } = check(kind, planted, random)[kind];
      if (share >= Math.ceil(upperBound(found, checked) * 1000) / 1000) wrong += 1;
    }
    // Within four deviations of what is allowed.
    expect(wrong / runs).toBeLessThanOrEqual(0.05 + 4 * Math.sqrt((0.05 * 0.95) / runs));
  });

  it("counts what only a part of a sample can meet in that part alone", () => {
    const look = (more: Partial<DrawnLook>): DrawnLook => {
      return { isDrawnHere: true, isDrawnThere: false, verdict: "equal", kind: null, ...more };
    };
    const there = { isDrawnHere: false, isDrawnThere: true };
    const looks = [
      look({}),
      look({ isDrawnThere: true }),
      look({ verdict: "wrong", kind: "fields" }),
      look({ ...there, verdict: "changed", kind: "missing" }),
      look({ verdict: "unclear", kind: "extra" }),
      look({ verdict: "denied", kind: "extra" }),
    ];
    expect(countKinds(looks)).toEqual({
      fields: { checked: 3, found: 1 },
      missing: { checked: 2, found: 1 },
      extra: { checked: 3, found: 0 },
    });
  });
});
