import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseLocalTime } from "../../src/resources/local-time.ts";

const atMidnight = (day: string) => `${day}T00:00:00`;

describe("parseLocalTime", () => {
  it.each([
    ["2013-05-20T06:40:04.128622", "2013-05-20T06:40:04.128622"],
    ["2013-05-20T06:40:04", "2013-05-20T06:40:04"],
    ["2013-05-20 06:40:04", "2013-05-20T06:40:04"],
    ["2013-05-20T06:40:04.000000", "2013-05-20T06:40:04"],
    ["2013-05-20T06:40:04.5", "2013-05-20T06:40:04.500000"],
    ["2013-05-20T06:40:04.000001", "2013-05-20T06:40:04.000001"],
    ["2012-02-29T23:59:59", "2012-02-29T23:59:59"],
    ["2000-02-29T00:00:00", "2000-02-29T00:00:00"],
    ["0001-01-01T00:00:00", "0001-01-01T00:00:00"],
    ["9999-12-31T23:59:59.999999", "9999-12-31T23:59:59.999999"],
  ])("%s reads as %s", (value, text) => {
    expect(parseLocalTime(value)?.text).toBe(text);
  });

  it.each([
    ...["", "yesterday", "2013-05-20", "2013-05-20T06:40", " 2013-05-20T06:40:04", "2013-05-20T06:40:04\n"],
    ...["2013-05-20T06:40:04Z", "2013-05-20T06:40:04+00:00", "2013-05-20T06:40:04-0500"],
    ...["2013-05-20T06:40:04.", "2013-05-20T06:40:04.1234567", "2013-05-20T06:40:04,5"],
    ...["2013-05-20T24:00:00", "2013-05-20T06:60:04", "2013-05-20T06:40:60"],
    ...["2013-02-29", "1900-02-29", "2013-04-31", "2013-00-20", "2013-13-20", "2013-05-00", "2013-05-32"].map(
      atMidnight,
    ),
    ...["0000-01-01", "10000-01-01", "-0001-01-01"].map(atMidnight),
    ...["2013-5-20T06:40:04", "٢٠١٣-05-20T06:40:04"],
  ])("%j is no local time", (value) => {
    expect(parseLocalTime(value)).toBeNull();
  });

  it("counts microseconds without losing one", () => {
    expect(parseLocalTime("1970-01-01T00:00:00")?.microseconds).toBe(0n);
    expect(parseLocalTime("1969-12-31T23:59:59.999999")?.microseconds).toBe(-1n);
    expect(parseLocalTime("9999-12-31T23:59:59.999999")?.microseconds).toBe(253402300799999999n);
  });

  it("agrees with the calendar on every moment, and orders as its texts do", () => {
    const moment = fc.record({
      ms: fc.integer({ min: Date.UTC(2000, 0, 1) - 63_082_281_600_000, max: 253402300799999 }),
      micros: fc.integer({ min: 0, max: 999 }),
    });
    const spell = ({ ms, micros }: { ms: number; micros: number }) =>
      `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, "0")}`;
    fc.assert(
      fc.property(moment, moment, (one, other) => {
        const [left, right] = [parseLocalTime(spell(one)), parseLocalTime(spell(other))];
        expect(left?.microseconds).toBe(BigInt(one.ms) * 1000n + BigInt(one.micros));
        expect(left?.text).toBe(spell(one).replace(/\.000000$/, ""));
        if (!left || !right) throw new Error("a moment of the calendar was refused");
        const byText = spell(one) < spell(other);
        expect(left.microseconds < right.microseconds).toBe(byText);
      }),
      { numRuns: 500 },
    );
  });

  it("refuses the days that a month does not have", () => {
    const two = (number: number) => String(number).padStart(2, "0");
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9999 }),
        fc.integer({ min: 0, max: 15 }),
        fc.integer({ min: 0, max: 35 }),
        (year, month, day) => {
          const date = new Date(0);
          date.setUTCFullYear(year, month, 0);
          const exists = month >= 1 && month <= 12 && day >= 1 && day <= date.getUTCDate();
          const text = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T00:00:00`;
          expect(parseLocalTime(text) !== null).toBe(exists);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
