import { describe, expect, it } from "vitest";
import { changeOf, differenceOf, renderShareChange } from "../../../src/page/parts/changes.ts";

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

describe("a kind of error", () => {
  const of = (now: number, before: number) => ({ now, before });
  const wordsOf = (some: number[], finished: number[]) =>
    String(renderShareChange(of(some[0] ?? 0, some[1] ?? 0), of(finished[0] ?? 0, finished[1] ?? 0)));

  it("is no more where its share of the builds is as before, however many came", () => {
    expect(changeOf(of(70, 35), of(700, 350))).toBe(0);
    expect(wordsOf([70, 35], [700, 350])).toMatch(/delta chance.*no change/s);
  });

  it("rises where its share does, and fewer builds came", () => {
    expect(changeOf(of(42, 70), of(140, 700))).toBe(1);
    expect(wordsOf([42, 70], [140, 700])).toMatch(/delta bad.*\+200\u00a0%/s);
    expect(changeOf(of(70, 42), of(700, 140))).toBe(-1);
    expect(wordsOf([70, 42], [700, 140])).toMatch(/delta good.*−67\u00a0%/s);
  });

  it("has nothing to be compared with where nothing finished", () => {
    expect(changeOf(of(5, 0), of(10, 0))).toBe(0);
    expect(wordsOf([5, 0], [10, 0])).toContain("nothing to compare it with");
  });
});
