import { describe, expect, it } from "vitest";
import { showsItsOrder } from "../../src/walk/list-order.ts";
import { RESOURCES } from "../../src/wire/resources.ts";

const builds = (...dates: unknown[]) => dates.map((date) => ({ date }));

describe("showsItsOrder", () => {
  it.each([
    ["no builds", []],
    ["one build", builds("2026-01-03T10:00:00")],
    ["dates that fall", builds("2026-01-03T10:00:00", "2026-01-02T10:00:00", "2025-12-31T23:59:59")],
    ["dates that fall by a microsecond", builds("2026-01-03T10:00:00.000002", "2026-01-03T10:00:00.000001")],
    ["a fraction before none", builds("2026-01-03T10:00:00.5", "2026-01-03T10:00:00")],
  ])("holds for %s", (_, records) => {
    expect(showsItsOrder("build", records)).toBe(true);
  });

  it.each([
    ["dates that rise", builds("2026-01-02T10:00:00", "2026-01-03T10:00:00")],
    ["two equal dates", builds("2026-01-03T10:00:00", "2026-01-03T10:00:00")],
    ["equal dates that are spelled in two ways", builds("2026-01-03T10:00:00", "2026-01-03T10:00:00.000000")],
    ["a date that is none", builds("2026-01-03T10:00:00", "yesterday")],
    ["a date that is null", builds(null)],
    ["a date that is a number", builds(20_260_103)],
    ["a build without a date", [{}]],
    ["records that are none", [null, 3, "build"]],
  ])("does not hold for %s", (_, records) => {
    expect(showsItsOrder("build", records)).toBe(false);
  });

  it.each(RESOURCES.filter((resource) => resource !== "build"))("does not hold for a %s list", (resource) => {
    expect(showsItsOrder(resource, builds("2026-01-03T10:00:00", "2026-01-02T10:00:00"))).toBe(false);
  });
});
