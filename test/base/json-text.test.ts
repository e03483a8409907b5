import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonText } from "../../src/base/text.ts";
import { hostileJson } from "../support/wire-records.ts";

describe("jsonText", () => {
  it("writes what JSON.stringify writes, and of a long value its beginning", () => {
    fc.assert(
      fc.property(hostileJson, fc.nat(60), (value, maxLength) => {
        const whole = JSON.stringify(value);
        expect(jsonText(value, 1_000_000)).toBe(whole);
        expect(jsonText(value, maxLength)).toBe(whole.slice(0, maxLength));
      }),
    );
  });

  it("writes a value that is nested deeper than any stack", () => {
    const depth = 300_000;
    const text = `${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`;
    expect(jsonText(JSON.parse(text), Number.POSITIVE_INFINITY) === text).toBe(true);
  });
});
