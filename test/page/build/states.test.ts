import { expect, it } from "vitest";
import type { ExplainedBuild, ExplainedTransition } from "../../../src/mirror/builds/explain-build.ts";
import { readLife } from "../../../src/page/build/states.ts";

const at = (minute: number) => Date.UTC(2025, 5, 2, 10, minute);
const text = (minute: number) => `2025-06-02 10:${String(minute).padStart(2, "0")}:00+00`;

/** A build of these transitions: state, lower bound in minutes or null, upper bound, rule. */
function life(
  steps: readonly [string, number | null, number, ExplainedTransition["rule"]][],
  rest: Partial<ExplainedBuild> = {},
) {
  const transitions = steps.map(([to_state, after, by, rule]) => ({
    to_state,
    not_before: after === null ? "-infinity" : text(after),
    not_after: text(by),
    rule,
  }));
  return readLife({
    transitions,
    open: null,
    state: "finished",
    stage: "result",
    ...rest,
  } as unknown as ExplainedBuild);
}

it("a state is sure from the first sighting in it to the last, and possible from bound to bound", () => {
  expect(
    life([
      ["building", 0, 1, "date"],
      ["finished", 3, 4, "last_seen"],
    ]),
  ).toEqual([
    { state: "building", from: at(0), seen: [at(1), at(3)], surely: [at(1), at(3)], until: at(4) },
    { state: "finished", from: at(3), seen: [at(4)], surely: [at(4), Number.POSITIVE_INFINITY], until: null },
  ]);
});

it("a lower bound that is no sighting makes nothing sure", () => {
  const [building] = life([
    ["building", null, 1, "unknown"],
    ["finished", 3, 4, "predecessor"],
  ]);
  expect(building).toEqual({ state: "building", from: null, seen: [at(1)], surely: null, until: at(4) });
});

it("an open build is sure up to its last sighting, and possible until it vanished", () => {
  const lifeOf = (vanished_at: string | null) => {
    const open = { since: text(1), last_seen: { asked_at: text(5) }, vanished_at };
    const rest = { state: "building", stage: "working", open } as Partial<ExplainedBuild>;
    return life([["building", 0, 1, "date"]], rest)[0];
  };
  expect(lifeOf(null)).toMatchObject({ seen: [at(1), at(5)], surely: [at(1), at(5)], until: null });
  expect(lifeOf(text(9))?.until).toBe(at(9));
});

it("a build that was away is not out of its state for that: only the next other state ends it", () => {
  const [building, away, again] = life([
    ["building", 0, 1, "date"],
    ["vanished", 1, 4, "last_seen"],
    ["building", 1, 6, "last_seen"],
    ["vanished", 6, 7, "last_seen"],
    ["finished", 6, 9, "last_seen"],
  ]);
  expect([building?.until, away?.until, again?.until]).toEqual([at(9), at(6), at(9)]);
});
