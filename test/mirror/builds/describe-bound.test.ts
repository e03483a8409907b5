import { describe, expect, test } from "vitest";
import { anomalyWords, whyNotBefore } from "../../../src/mirror/builds/describe-bound.ts";
import type { ExplainedTransition } from "../../../src/mirror/builds/explain-build.ts";

const run = { id: 4, kind: "watch" as const, started_at: "2025-06-02 10:03:00+00" };

function transition(facts: Partial<ExplainedTransition>): ExplainedTransition {
  return {
    ...{ seq: 2, from_state: "triggered", to_state: "building", rule: "last_seen", anomalies: [] },
    ...{ not_before: "2025-06-02 10:02:00+00", not_after: "2025-06-02 10:03:00+00", width_ms: 60_000 },
    ...{ before_date_ms: null, predecessor_last_seen: null, lasted: null },
    first_seen: { asked_at: null, observed_at: null, request: null, run },
    ...facts,
  };
}

describe("whyNotBefore", () => {
  const date = (before_date_ms: number | null, anomalies: string[] = []) =>
    transition({ seq: 1, from_state: null, rule: "date", before_date_ms, anomalies });

  const clock = transition({ anomalies: ["clock"] });
  const SET_BACK = "our clock was set back after it was seen triggered";

  test.each([
    [
      "the last sighting of the predecessor",
      transition({}),
      "when the last request that showed it triggered was sent",
    ],
    [
      "a sighting on a clock that went back since",
      clock,
      /, moved back because our clock was set back since then$/,
    ],
    ["the build's own date", date(0), "the build's own date"],
    ["a date that is gone by now", date(null), "the build's own date"],
    [
      "a date by a clock that is a little ahead",
      date(1500),
      /moved back by 1\.5s .*may have been ahead by that much$/,
    ],
    [
      "a date by a clock that is far ahead",
      date(7_200_000, ["clock"]),
      /moved back by 2h 0m because the service's clock/,
    ],
    ["a date that another zone read earlier", date(18_000_000), /today's reading is 5h 0m later$/],
    ["a date that another zone read later", date(-18_000_000), /today's reading is 5h 0m earlier$/],
    ["a clock of ours that went back", transition({ rule: "predecessor" }), new RegExp(`^${SET_BACK}`)],
    ["nothing, at first sight", transition({ seq: 1, rule: "unknown" }), /^unknown: the build had no date/],
    ["nothing", transition({ rule: "unknown" }), new RegExp(`^unknown: ${SET_BACK}`)],
    ["a sighting without a state", transition({ from_state: null }), /showed it without a state was sent$/],
  ])("names %s", (_what, row, words) => {
    expect(whyNotBefore(row)).toMatch(words);
  });
});

describe("anomalyWords", () => {
  const NAMES = ["backward", "no_date", "future_date", "repeated_hour", "skipped_hour", "clock"];
  test.each(NAMES)("explains %s", (name) => {
    expect(anomalyWords(name)).toMatch(new RegExp(`^${name}: .{20}`));
  });

  test("gives back what it does not know", () => {
    expect(anomalyWords("solar_flare")).toBe("solar_flare");
  });
});
