import { describe, expect, expectTypeOf, it } from "vitest";
import {
  answerLabel,
  COMMAND_LABELS,
  knownOr,
  OPEN_STATES,
  OUTCOMES,
  type RunKindLabel,
  type RunStatusLabel,
} from "../../../src/base/metrics/labels.ts";
import { emptyCounts } from "../../../src/mirror/lists/summary.ts";
import type { RunKind, RunStatus } from "../../../src/store/schema/runs.ts";

describe("labels", () => {
  it("name the kinds, statuses and outcomes that the program has", () => {
    expectTypeOf<RunKindLabel>().toEqualTypeOf<RunKind>();
    expectTypeOf<RunStatusLabel>().toEqualTypeOf<Exclude<RunStatus, "running">>();
    expect(Object.keys(emptyCounts())).toEqual(expect.arrayContaining([...OUTCOMES]));
    expect(COMMAND_LABELS).toEqual(["sync", "watch"]);
  });

  it.each([
    [200, "200"],
    [404, "404"],
    [503, "503"],
    [299, "2xx"],
    [522, "5xx"],
    [999, "9xx"],
    ["timeout", "timeout"],
  ] as const)("show the answer %s as %s", (answer, label) => {
    expect(answerLabel(answer)).toBe(label);
  });

  it("are few, whatever status a server makes up", () => {
    const labels = Array.from({ length: 900 }, (_, index) => answerLabel(100 + index));
    expect(new Set(labels).size).toBeLessThan(80);
  });

  it.each([
    'building"} 1\nevil 1',
    "BUILDING",
    "",
    null,
    "x".repeat(10_000),
  ])("show the foreign state %j as other", (state) => {
    expect(knownOr(OPEN_STATES, state)).toBe("other");
  });
});
