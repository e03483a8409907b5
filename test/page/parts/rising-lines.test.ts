import { describe, expect, it } from "vitest";
import { readRising, risingWords, sayingOf } from "../../../src/page/parts/rising.ts";

const rowOf = (failures: number, failures_before: number) => ({
  error_line_id: "1",
  error_line: "ModuleNotFoundError: No module named 'foo'",
  projects: 40,
  failures,
  failures_before,
  since: "2026-11-22 03:10:00+00",
  first_build_id: "7",
});
const NOW = new Date("2026-11-22T12:00:00Z");

describe("a line that rises", () => {
  it("is named by what it says, without the class of its exception", () => {
    const [one] = readRising([rowOf(52, 0)]);
    expect(one && risingWords(one, NOW)).toBe("“No module named 'foo'” began at 03:10 and hit 40 projects");
    const [again] = readRising([rowOf(52, 3)]);
    expect(again && risingWords(again, NOW)).toBe(
      "“No module named 'foo'” rises: it hit 40 projects since 03:10",
    );
    expect(
      ["a.b.ConfigError: no x", "fatal: no x", "error:", "make: no x"].map((line) => sayingOf(line)),
    ).toEqual(["no x", "no x", "error:", "make: no x"]);
  });
});
