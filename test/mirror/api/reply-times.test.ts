import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createClockDifference,
  parseHttpDate,
  parseRetryAfter,
} from "../../../src/mirror/api/reply-times.ts";

describe("parseHttpDate", () => {
  it.each([
    ["Wed, 15 May 2024 12:02:00 GMT"],
    ["Wednesday, 15-May-24 12:02:00 GMT"],
    ["Wed May 15 12:02:00 2024"],
    [" Wed, 15 May 2024 12:02:00 GMT "],
  ])("reads %j, in whatever zone it runs", (header) => {
    expect(parseHttpDate(header)).toEqual(new Date("2024-05-15T12:02:00Z"));
  });

  it.each([
    [undefined],
    [""],
    ["12"],
    ["today 5"],
    ["2024-05-15T12:02:00Z"],
    ["Wed, 99 May 2024 12:02:00 GMT"],
    ["Wed, 15 May 2024 12:02:00 +0200"],
  ])("has nothing to read in %j", (header) => {
    expect(parseHttpDate(header)).toBeNull();
  });
});

describe("parseRetryAfter", () => {
  it.each([
    ["120", 120_000],
    [" 120 ", 120_000],
    ["+3", 3000],
    ["0", 0],
    ["-1", 0],
    ["0.25", 250],
    ["Wed, 15 May 2024 12:02:00 GMT", 120_000],
    ["Wed, 15 May 2024 11:59:59 GMT", 0],
    ["9".repeat(400), Number.POSITIVE_INFINITY],
    ["86400", 86_400_000],
    ["31536000", 31_536_000_000],
    // Moments: NOON and two minutes, a minute ago, in ten months, and too far away to be meant.
    ["1715774520", 120_000],
    ["1715774520.5", 120_500],
    ["1715774520000", 120_000],
    ["1715774340", 0],
    ["1742000000", 26_225_600_000],
    ["1900000000", 1_900_000_000_000],
    ["2024-05-15T12:02:00Z", 120_000],
    ["2024-05-15 14:02:00.25 +0200", 120_250],
    ["Wed, 15 May 2024 14:02:00 +0200", 120_000],
    ["15 May 2024 12:02:00 UTC", 120_000],
  ])("reads %j as %d ms", (header, waitMs) => {
    expect(parseRetryAfter(header, new Date("2024-05-15T12:00:00Z"))).toBe(waitMs);
  });

  it.each([
    [undefined],
    [""],
    ["  "],
    ["soon"],
    ["soon 5"],
    ["May 5"],
    ["1e3"],
    ["0x10"],
    ["1,5"],
    ["5 minutes"],
    ["12:02:00"],
    ["2024-05-15T12:02:00"],
    ["2024-05-99T12:02:00Z"],
    ["Wed, 99 May 2024 12:02:00 GMT"],
    ["NaN"],
  ])("has nothing to read in %j", (header) => {
    expect(parseRetryAfter(header, new Date("2024-05-15T12:00:00Z"))).toBeUndefined();
  });
});

const NOON = Date.parse("2024-05-15T12:00:00Z");
const at = (ms: number) => new Date(NOON + ms);
const wholeSecond = (ms: number) => new Date(Math.floor((NOON + ms) / 1000) * 1000);

describe("the difference of the clocks", () => {
  it("is unknown before a reply told", () => {
    expect(createClockDifference().ahead()).toBeNull();
  });

  it.each([
    ["the same", 0, { minMs: -300, maxMs: 1000 }],
    ["ahead", 90_000, { minMs: 89_700, maxMs: 91_000 }],
    ["behind", -90_000, { minMs: -90_300, maxMs: -89_000 }],
  ])("of a clock that is %s spans a second and the way there and back", (_, aheadMs, expected) => {
    const difference = createClockDifference();
    difference.learn(at(aheadMs), at(0), at(300));
    expect(difference.ahead()).toEqual(expected);
  });

  it("narrows with each reply, also by a slow one", () => {
    const difference = createClockDifference();
    difference.learn(at(0), at(100), at(200));
    expect(difference.ahead()).toEqual({ minMs: -200, maxMs: 900 });
    difference.learn(at(0), at(850), at(950));
    expect(difference.ahead()).toEqual({ minMs: -200, maxMs: 150 });
    difference.learn(at(2000), at(900), at(2050));
    expect(difference.ahead()).toEqual({ minMs: -50, maxMs: 150 });
  });

  it("starts anew from the latest reply when a clock was set", () => {
    const difference = createClockDifference();
    difference.learn(at(60_000), at(0), at(100));
    difference.learn(at(5000), at(5000), at(5100));
    expect(difference.ahead()).toEqual({ minMs: -100, maxMs: 1000 });
  });

  it("is right again after an old date out of a cache, which looks like a clock that is behind", () => {
    const difference = createClockDifference();
    difference.learn(at(-3_600_000), at(0), at(100));
    expect(difference.ahead()).toEqual({ minMs: -3_600_100, maxMs: -3_599_000 });
    difference.learn(at(1000), at(1000), at(1100));
    expect(difference.ahead()).toEqual({ minMs: -100, maxMs: 1000 });
  });

  it("learns nothing from a reply during which our clock was set back", () => {
    const difference = createClockDifference();
    difference.learn(at(0), at(0), at(-5000));
    expect(difference.ahead()).toBeNull();
    difference.learn(at(0), at(0), at(100));
    difference.learn(at(0), at(0), at(-5000));
    expect(difference.ahead()).toEqual({ minMs: -100, maxMs: 1000 });
  });

  it("always holds the true one, and at best the way there and back is left of it", () => {
    const reply = fc.record({
      sentMs: fc.integer({ min: 0, max: 600_000 }),
      thereMs: fc.integer({ min: 0, max: 5000 }),
      backMs: fc.integer({ min: 0, max: 5000 }),
    });
    const aheadMs = fc.integer({ min: -1e9, max: 1e9 });
    fc.assert(
      fc.property(aheadMs, fc.array(reply, { minLength: 1 }), (trueMs, replies) => {
        const difference = createClockDifference();
        for (const { sentMs, thereMs, backMs } of replies) {
          difference.learn(wholeSecond(sentMs + thereMs + trueMs), at(sentMs), at(sentMs + thereMs + backMs));
        }
        const { minMs, maxMs } = difference.ahead() ?? { minMs: Number.NaN, maxMs: Number.NaN };
        expect(minMs).toBeLessThanOrEqual(trueMs);
        expect(maxMs).toBeGreaterThan(trueMs);
        const shortest = Math.min(...replies.map(({ thereMs, backMs }) => thereMs + backMs));
        expect(maxMs - minMs).toBeLessThanOrEqual(1000 + shortest);
      }),
    );
  });
});
