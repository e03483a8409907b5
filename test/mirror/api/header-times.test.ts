import { describe, expect, it } from "vitest";
import { parseHttpDate, parseRetryAfter } from "../../../src/mirror/api/reply-times.ts";

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

const NOW = new Date("2024-05-15T12:00:00Z");

describe("parseRetryAfter", () => {
  it.each([
    ["120", 120_000],
    [" 120 ", 120_000],
    ["+3", 3000],
    ["0", 0],
    ["-1", 0],
    ["0.25", 250],
    ["Wed, 15 May 2024 12:02:00 GMT", 120_000],
    ["Wednesday, 15-May-24 12:02:00 GMT", 120_000],
    ["Wed May 15 12:02:00 2024", 120_000],
    ["Wed, 15 May 2024 11:59:59 GMT", 0],
    ["9".repeat(400), Number.POSITIVE_INFINITY],
  ])("reads %j as %d ms", (header, waitMs) => {
    expect(parseRetryAfter(header, NOW)).toBe(waitMs);
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
    ["2024-05-15T12:02:00Z"],
    ["Wed, 99 May 2024 12:02:00 GMT"],
    ["Wed, 15 May 2024 12:02:00 +0200"],
    ["NaN"],
  ])("has nothing to read in %j", (header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined();
  });
});
