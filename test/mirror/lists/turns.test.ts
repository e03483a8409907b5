import { expect, test } from "vitest";
import type { WalkPlan } from "../../../src/mirror/lists/plan.ts";
import { turnsOf } from "../../../src/mirror/lists/turns.ts";
import { RESOURCES, type Resource } from "../../../src/resources/resources.ts";

interface Known {
  /** The sync that read each list well last. */
  good: Partial<Record<Resource, number>>;
  /** The sync that began to read each list last, where it did not read it well. */
  failed?: Partial<Record<Resource, number>>;
  resting?: Resource[];
  /** Those of them that something else stopped when they went on. */
  broken?: Resource[];
  /** Those with a checkpoint of another kind, as of a run that was stopped. */
  stopped?: Resource[];
  /** Those of which only the head is read. */
  heads?: Resource[];
}

function turnsWith({
  good,
  failed = {},
  resting = [],
  broken = [],
  stopped = [],
  heads = [],
}: Known): Resource[][] {
  const walks = RESOURCES.map((resource) => ({ resource, kind: heads.includes(resource) ? "head" : "full" }));
  const lists = RESOURCES.map((resource) => {
    const goodRunId = good[resource] ?? null;
    return { resource, begunRunId: failed[resource] ?? goodRunId, goodRunId };
  });
  const place = { seq: 3, request: "/api/v1/build/" };
  const resumable = [
    ...resting.map((resource) => ({ resource, checkpoint: { ...place, rests: { counted: 5 } } })),
    ...broken.map((resource) => {
      const rests = { counted: 5, isBroken: true as const };
      return { resource, checkpoint: { ...place, rests } };
    }),
    ...stopped.map((resource) => ({ resource, checkpoint: place })),
  ];
  const turns = turnsOf(walks as WalkPlan[], { lists, resumable });
  return turns.map((turn) => turn.map(({ resource }) => resource));
}

const all = (run: number) => Object.fromEntries(RESOURCES.map((resource) => [resource, run]));
const others = RESOURCES.filter((resource) => resource !== "build");

test.each<[what: string, known: Known, turns: Resource[][]]>([
  ["one turn: all lists that one sync read well", { good: all(7) }, [[...RESOURCES]]],
  ["one turn: lists that were never read", { good: {} }, [[...RESOURCES]]],
  [
    "a turn before them: one that was never read",
    { good: { user: 7, project: 7, version: 7, file: 7 } },
    [["build"], others],
  ],
  [
    "a turn before them: one that the same sync did not read well",
    { good: { ...all(7), build: 4 }, failed: { build: 7 } },
    [["build"], others],
  ],
  [
    "a turn behind them: one whose sync did not come to them",
    { good: { ...all(7), build: 4 }, failed: { build: 8 } },
    [others, ["build"]],
  ],
  ["a turn before them: one that rests", { good: all(7), resting: ["build"] }, [["build"], others]],
  [
    "a turn behind them: one that rests, where something else stopped it last",
    { good: { ...all(7), build: 4 }, failed: { build: 8 }, broken: ["build"] },
    [others, ["build"]],
  ],
  ["no turn of its own: one whose run was stopped", { good: all(7), stopped: ["build"] }, [[...RESOURCES]]],
  [
    "no turn of its own: one that rests, where only the head is read",
    { good: all(7), resting: ["build"], heads: ["build"] },
    [[...RESOURCES]],
  ],
  [
    "turns by their age: the others behind one that rests",
    { good: { user: 9, project: 9, version: 5, file: 7, build: 9 }, resting: ["build"] },
    [["build"], ["version"], ["file"], ["user", "project"]],
  ],
])("lists get %s", (_, known, turns) => {
  expect(turnsWith(known)).toEqual(turns);
});
