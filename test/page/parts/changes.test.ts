import { describe, expect, it } from "vitest";
import { differenceOf } from "../../../src/page/parts/changes.ts";

const rate = (succeeded: number, finished: number) => ({ succeeded, finished });
/** 56 of 70 against 48 of 80: the example of Newcombe (1998), method 10, has 0.0524 to 0.3339. */
const KNOWN = differenceOf(rate(56, 70), rate(48, 80));

describe("the difference of two rates", () => {
  it("has the interval that the method's author computed", () => {
    expect(KNOWN?.by).toBeCloseTo(0.2, 10);
    expect(KNOWN?.low).toBeCloseTo(0.0524, 3);
    expect(KNOWN?.high).toBeCloseTo(0.3339, 3);
    expect(KNOWN?.isChance).toBe(false);
  });

  it("is chance where 0 is among the possible values, whichever way it points", () => {
    expect(differenceOf(rate(9, 10), rate(8, 10))?.isChance).toBe(true);
    expect(differenceOf(rate(8, 10), rate(9, 10))?.isChance).toBe(true);
    expect(differenceOf(rate(5, 10), rate(5, 10))).toMatchObject({
      by: 0,
      isChance: true,
    });
  });

  it("turns round with its two sides", () => {
    const turned = differenceOf(rate(48, 80), rate(56, 70));
    expect(turned?.low).toBeCloseTo(-(KNOWN?.high ?? 0), 10);
    expect(turned?.high).toBeCloseTo(-(KNOWN?.low ?? 0), 10);
  });

  it("stays within what is possible, with all and with none", () => {
    const whole = differenceOf(rate(100, 100), rate(0, 100));
    expect(whole?.by).toBe(1);
    expect(whole?.high).toBeLessThanOrEqual(1);
    expect(whole?.low).toBeGreaterThan(0.9);
  });

  it("is not known where nothing finished before or after", () => {
    expect(differenceOf(rate(0, 0), rate(1, 2))).toBeNull();
    expect(differenceOf(rate(1, 2), rate(0, 0))).toBeNull();
  });
});
