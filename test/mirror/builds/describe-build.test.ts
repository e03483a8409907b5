import { describe, expect, test } from "vitest";
import {
  anomalyWords,
  type BuildDescription,
  describeBuild,
  foreignPiece,
  momentPiece,
  type Piece,
  requestPiece,
  runPiece,
  whyNotBefore,
} from "../../../src/mirror/builds/describe-build.ts";
import { type ExplainedTransition, explainBuild } from "../../../src/mirror/builds/explain-build.ts";
import { formatBetween, formatSpan } from "../../../src/mirror/builds/format-span.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createToldBuild } from "../../support/told-build.ts";

const value = (text: string) => ({ kind: "value", text });

async function describeTold(sql: Sql, most = 20): Promise<BuildDescription> {
  const { build, quarantine } = await explainBuild(sql, "42", "America/Chicago");
  if (build === null) throw new Error("there is no build 42");
  return describeBuild(build, quarantine, most);
}

describe("describeBuild", () => {
  test("says of each piece what it is", async () => {
    await using told = await createToldBuild();
    const { state, facts, states, changes, quarantine } = await describeTold(told.sql);
    expect(state).toBe("finished, failure, html");
    expect(facts[0]).toEqual({
      label: "project",
      lines: [
        [foreignPiece("7"), ", ", foreignPiece("pip")],
        [{ kind: "uri", text: "/api/v1/project/7/" }, " as sent"],
      ],
    });
    const took = "5 min 30 s to 7 min 1 s from the trigger to the finish";
    expect(facts.at(-1)).toEqual({ label: "took", lines: [[took]] });
    expect(states.shown.map(({ title }) => title)).toEqual([
      "1. first seen triggered",
      "2. triggered → building",
      "3. building → triggered",
      "4. triggered → finished",
    ]);
    expect(states.shown[1]?.entries[0]).toEqual({
      label: "after",
      lines: [
        [momentPiece("2025-06-02 10:02:00+00")],
        [foreignPiece("when the last request that showed it triggered was sent")],
        [{ kind: "run", text: "run 3 (watch, began 2025-06-02 10:02:00)" }],
        [{ kind: "request", text: "GET /api/v1/build/42/" }],
      ],
    });
    expect(changes.shown[0]).toEqual({
      label: "updated",
      lines: [
        [momentPiece("2025-06-02 10:03:00.25+00"), ", run 4"],
        [foreignPiece("state"), ": ", value('"triggered"'), " → ", value('"building"')],
      ],
    });
    expect(quarantine.shown.map(({ label }) => label)).toEqual(["row 1"]);
  });

  test("tells the newest of each list, and how many are left out", async () => {
    await using told = await createToldBuild();
    const { states, quarantine } = await describeTold(told.sql, 1);
    expect(states).toMatchObject({ left: 3, shown: [{ title: "4. triggered → finished" }] });
    expect(quarantine).toMatchObject({ left: 0, shown: [{ label: "row 1" }] });
  });

  test("says that its id was another build's before", async () => {
    await using told = await createToldBuild();
    expect((await describeTold(told.sql)).facts.map(({ label }) => label)).not.toContain("life");
    await told.sql`update mirror.builds set life = 2`;
    const facts = (await describeTold(told.sql)).facts.find(({ label }) => label === "life");
    expect(facts?.lines).toEqual([[expect.stringMatching(/^2: the service has given this id again;/)]]);
  });

  test("claims no moment where nothing is known", async () => {
    await using told = await createToldBuild();
    await told.sql`update mirror.build_transitions set not_before = '-infinity', rule = 'unknown' where seq = 1`;
    const { states } = await describeTold(told.sql);
    const [after, , within] = states.shown[0]?.entries ?? [];
    expect(after?.lines[0]).toEqual(["unknown"]);
    expect(within).toEqual({ label: "within", lines: [["unknown"]] });
  });
});

const run = { id: 4, kind: "watch" as const, started_at: "2025-06-02 10:03:00+00" };

function transition(facts: Partial<ExplainedTransition>): ExplainedTransition {
  return {
    seq: 2,
    from_state: "triggered",
    to_state: "building",
    rule: "last_seen",
    anomalies: [],
    not_before: "2025-06-02 10:02:00+00",
    not_after: "2025-06-02 10:03:00+00",
    width_ms: 60_000,
    before_date_ms: null,
    predecessor_last_seen: null,
    lasted: null,
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
      /moved back by 1\.5 s .*may have been ahead by that much$/,
    ],
    [
      "a date by a clock that is far ahead",
      date(7_200_000, ["clock"]),
      /moved back by 2 h 0 min because the service's clock/,
    ],
    ["a date that another zone read earlier", date(18_000_000), /today's reading is 5 h 0 min later$/],
    ["a date that another zone read later", date(-18_000_000), /today's reading is 5 h 0 min earlier$/],
    ["a clock of ours that went back", transition({ rule: "predecessor" }), new RegExp(`^${SET_BACK}`)],
    ["nothing, at first sight", transition({ seq: 1, rule: "unknown" }), /^unknown: the build had no date/],
    ["nothing", transition({ rule: "unknown" }), new RegExp(`^unknown: ${SET_BACK}`)],
    [
      "a sighting before it was gone",
      transition({ from_state: "vanished" }),
      /showed it before it was gone was/,
    ],
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

test.each<[string, Piece, string]>([
  ["a moment without its zone", momentPiece("2025-06-02 10:03:00.25+00"), "2025-06-02 10:03:00.25"],
  ["a run", runPiece(run), "run 4 (watch, began 2025-06-02 10:03:00)"],
  ["a run that was pruned", runPiece({ id: 4, kind: null, started_at: null }), "run 4 (pruned)"],
  ["a request", requestPiece("/api/v1/build/42/"), "GET /api/v1/build/42/"],
  ["a request that was not stored", requestPiece(null), "the request was not stored"],
])("a piece has the text of %s", (_what, piece, text) => {
  expect(piece).toMatchObject({ text });
});

test.each([
  [0, "< 0.1 s"],
  [49, "< 0.1 s"],
  [30_940, "30.9 s"],
  [59_960, "1 min 0 s"],
  [90_400, "1 min 30 s"],
  [7_500_000, "2 h 5 min"],
  [360_000_000, "4 d 4 h"],
])("%i ms are %s", (ms, text) => {
  expect(formatSpan(ms)).toBe(text);
});

test.each([
  [{ least_ms: 0, most_ms: 60_000 }, "up to 1 min 0 s"],
  [{ least_ms: 1000, most_ms: 60_000 }, "1.0 s to 1 min 0 s"],
  [{ least_ms: 1000, most_ms: null }, "1.0 s or longer"],
  [{ least_ms: 0, most_ms: null }, "unknown"],
])("%j is %s", (span, text) => {
  expect(formatBetween(span)).toBe(text);
});
