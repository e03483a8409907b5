/** A walk that rests each night, against a list that changes by day and during its requests. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { createCourse, type WalkOutcome } from "../../../src/mirror/walk/course.ts";
import type { Page } from "../../../src/mirror/walk/page.ts";
import { createWalk } from "../../../src/mirror/walk/walk.ts";
import { createModelList, type ModelOptions } from "../../support/model-list.ts";

const LIST = "/api/v1/build/";
/** A round that takes more nights is given up (`src/mirror/lists/read-round.ts`). */
const MOST_NIGHTS = 20;

interface Round extends Omit<ModelOptions, "order"> {
  pageSize: number;
  order: "fixed" | "ties";
  /** The records of a night, and what happens in the day behind it. */
  part: number;
  byDay: number;
  /** By how much the guess of the place is wrong. */
  wrong: number;
}

async function readRound({ part, byDay, wrong, pageSize, ...options }: Round) {
  const model = createModelList(options);
  const pages: Page[] = [];
  let outcome: WalkOutcome | null = null;
  let counted = 0;
  let nights = 0;
  for (; nights < MOST_NIGHTS && (outcome === null || outcome.walk === "head"); nights++) {
    const course = createCourse({
      resource: "build",
      listPath: LIST,
      pageSize,
      isListPath: (path) => path === LIST,
    });
    for (const page of pages) expect(course.replay(page), `page ${page.seq}`).toBe(true);
    const following = pages.at(-1)?.following;
    if (following) expect(course.resumeAt(following)).toBe(true);
    const shift = following ? model.count() - counted + wrong : 0;
    const walk = createWalk({
      resource: "build",
      course,
      source: model.source,
      seq: pages.length,
      shift,
      most: part,
    });
    const steps = walk.pages();
    const before = pages.length;
    for (;;) {
      const step = await steps.next();
      if (step.done) {
        outcome = step.value;
        break;
      }
      pages.push(step.value);
      counted = step.value.meta.totalCount ?? counted;
    }
    // Each night moves on.
    if (outcome.walk === "head") expect(pages.length).toBeGreaterThan(before);
    const missed = model.stable().filter((id) => !course.seen.has(id));
    if (outcome.walk !== "head")
      return { outcome, missed, nights, served: model.served, verdict: course.verdict };
    model.pass(byDay);
  }
  return { outcome, missed: [], nights, served: model.served, verdict: null };
}

const round: fc.Arbitrary<Round> = fc.record({
  seed: fc.integer(),
  size: fc.integer({ min: 0, max: 600 }),
  pageSize: fc.constantFrom(8, 20, 100, 1000),
  order: fc.constantFrom("fixed", "ties"),
  maxLimit: fc.constantFrom(1000, 1000, 30, 10),
  lookAhead: fc.nat(4),
  part: fc.integer({ min: 60, max: 300 }),
  byDay: fc.constantFrom(0, 3, 20, 60),
  rate: fc.constantFrom(0, 0, 0.2, 0.5),
  burst: fc.constantFrom(1, 4),
  wrong: fc.constantFrom(0, 0, 0, 90, -90),
  unrenderable: fc.constantFrom(0, 0, 0, 0.002),
  count: fc.constantFrom("honest", "honest", "honest", "cached", "estimated"),
  showsOrder: fc.boolean(),
  patience: fc.constant(20_000),
}) as fc.Arbitrary<Round>;

const proves = async (numRuns: number) => {
  const ended = { whole: 0, all: 0 };
  await fc.assert(
    fc.asyncProperty(round, async (options) => {
      const { outcome, missed } = await readRound(options);
      ended.all += 1;
      if (outcome?.walk !== "whole") return;
      ended.whole += 1;
      expect(missed).toEqual([]);
    }),
    { numRuns },
  );
  return ended;
};

it("is whole only where every record that was there all through it was read, and that is the rule", async () => {
  const { whole, all } = await proves(40);
  expect(whole / all).toBeGreaterThan(0.5);
});

it("is so over hundreds of rounds", { tags: ["long"], timeout: 300_000 }, async () => {
  const { whole, all } = await proves(300);
  expect(whole / all).toBeGreaterThan(0.5);
});

it("is so over 40,000 rounds", { tags: ["long", "exhaustive"], timeout: 3_600_000 }, async () => {
  await proves(40_000);
});

it("goes round at little more than the requests of a walk without rests", async () => {
  const quiet = {
    seed: 1,
    size: 1500,
    pageSize: 100,
    order: "fixed",
    part: 300,
    byDay: 20,
    wrong: 0,
    showsOrder: true,
  } as const;
  const { outcome, nights, served } = await readRound(quiet);
  expect(outcome?.walk).toBe("whole");
  expect(nights).toBeLessThanOrEqual(5);
  expect(served).toBeLessThanOrEqual(16 + 2 * nights);
});
