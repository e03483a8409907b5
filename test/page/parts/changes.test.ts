import { describe, expect, it } from "vitest";
import { differenceOf } from "../../../src/page/parts/changes.ts";

/** 56 of 70 against 48 of 80: the example of Newcombe (1998), method 10, has 0.0524 to 0.3339. */
const KNOWN = differenceOf({ succeeded: 56, finished: 70 }, { succeeded: 48, finished: 80 });

describe("the difference of two rates", () => {
  it("has the interval that the method's author computed", () => {
    expect(KNOWN?.by).toBeCloseTo(0.2, 10);
    expect(KNOWN?.low).toBeCloseTo(0.0524, 3);
    expect(KNOWN?.high).toBeCloseTo(0.3339, 3);
    expect(KNOWN?.isChance).toBe(false);
  });

  it("is chance where 0 is among the possible values, whichever way it points", () => {
    expect(differenceOf({ succeeded: 9, finished: 10 }, { succeeded: 8, finished: 10 })?.isChance).toBe(true);
    expect(differenceOf({ succeeded: 8, finished: 10 }, { succeeded: 9, finished: 10 })?.isChance).toBe(true);
    expect(differenceOf({ succeeded: 5, finished: 10 }, { succeeded: 5, finished: 10 })).toMatchObject({
      by: 0,
      isChance: true,
    });
  });

  it("turns round with its two sides", () => {
    const turned = differenceOf({ succeeded: 48, finished: 80 }, { succeeded: 56, finished: 70 });
    expect(turned?.low).toBeCloseTo(-(KNOWN?.high ?? 0), 10);
    expect(turned?.high).toBeCloseTo(-(KNOWN?.low ?? 0), 10);
  });

  it("stays within what is possible, with all and with none", () => {
    const whole = differenceOf({ succeeded: 100, finished: 100 }, { succeeded: 0, finished: 100 });
    expect(whole?.by).toBe(1);
    expect(whole?.high).toBeLessThanOrEqual(1);
    expect(whole?.low).toBeGreaterThan(0.9);
  });

  it("is not known where nothing finished before or after", () => {
    expect(differenceOf({ succeeded: 0, finished: 0 }, { succeeded: 1, finished: 2 })).toBeNull();
    expect(differenceOf({ succeeded: 1, finished: 2 }, { succeeded: 0, finished: 0 })).toBeNull();
  });
});
