import { describe, expect, test } from "vitest";
import { nearestNames } from "../../../src/base/config/nearest-names.ts";

const RATES = [
  ...["success_rate_by_project", "success_rate_by_type", "success_rate_daily"],
  ...["success_rate_daily_by_project", "success_rate_without_platform"],
];
const NAMES = ["42", "failing_now", "fact_builds", ...RATES, "recoveries", "runs"];

describe("nearestNames", () => {
  test.each([
    ["failling_now", ["failing_now"]],
    ["failing", ["failing_now"]],
    ["failling", ["failing_now"]],
    ["RUNS", ["runs"]],
    ["foo", []],
    ["quux_of_everything", []],
  ])("of %s are %j", (wrong, names) => {
    expect(nearestNames(wrong, NAMES).slice(0, 1)).toEqual(names);
  });

  test("of a misspelt beginning are the names that go on from it", () => {
    expect(nearestNames("succes_rate", NAMES, 6)).toEqual(RATES);
  });
});
