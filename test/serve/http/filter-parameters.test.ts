import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readFilters } from "../../../src/serve/protocol/filters.ts";
import { MOMENT } from "../../../tools/record-schemas.ts";

const two = (number: number) => String(number).padStart(2, "0");
const upTo = (max: number) => fc.integer({ min: 0, max });

describe("the pattern of a moment", () => {
  it("allows the dates that a filter takes, and no other", () => {
    const isTaken = (date: string) => {
      try {
        return readFilters("build", new URLSearchParams({ date }), "every field").length === 1;
      } catch {
        return false;
      }
    };
    const pattern = new RegExp(String(MOMENT.pattern));
    const year = fc.oneof(upTo(9999), fc.constantFrom(1900, 2000, 2024));
    const day = fc
      .tuple(year, upTo(13), fc.oneof(upTo(33), fc.constant(29)))
      .map(([year, month, date]) => `${String(year).padStart(4, "0")}-${two(month)}-${two(date)}`);
    const clock = fc.tuple(upTo(25), upTo(61), upTo(61)).map((numbers) => numbers.map(two).join(":"));
    const rest = fc.constantFrom("", ".", ".5", ".123456", "Z");
    const time = fc.tuple(fc.constantFrom("T", " ", "t"), clock, rest).map((parts) => parts.join(""));
    const text = fc.tuple(day, fc.option(time, { nil: "" })).map((parts) => parts.join(""));
    let taken = 0;
    fc.assert(
      fc.property(text, (date) => {
        expect(pattern.test(date), date).toBe(isTaken(date));
        if (isTaken(date)) taken++;
      }),
      { numRuns: 1500 },
    );
    expect(taken).toBeGreaterThan(150);
  });
});
