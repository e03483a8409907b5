import { expect, test } from "vitest";
import { formatBetween, formatSpan } from "../../../src/mirror/builds/format-span.ts";

test.each([
  [0, "0.0s"],
  [30_940, "30.9s"],
  [59_960, "1m 0s"],
  [90_400, "1m 30s"],
  [7_500_000, "2h 5m"],
  [360_000_000, "4d 4h"],
])("%i ms are %s", (ms, text) => {
  expect(formatSpan(ms)).toBe(text);
});

test.each([
  [{ least_ms: 0, most_ms: 60_000 }, "up to 1m 0s"],
  [{ least_ms: 1000, most_ms: 60_000 }, "1.0s to 1m 0s"],
  [{ least_ms: 1000, most_ms: null }, "1.0s or longer"],
  [{ least_ms: 0, most_ms: null }, "unknown"],
])("%j is %s", (span, text) => {
  expect(formatBetween(span)).toBe(text);
});
