/**
 * A mirror that reads a list in rounds, night after night, from a service that changes by day, while it answers, and for good.
 * Each world is one schedule, held to what "Rounds" in `docs/internals/reliability.md` promises.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { HttpStatusError, UpstreamError } from "../../../src/base/errors.ts";
import { judgeEnd } from "../../../src/mirror/lists/differences.ts";
import { planRun } from "../../../src/mirror/lists/plan.ts";
import { beginNight, endNight } from "../../../src/mirror/lists/read-round.ts";
import { createCourse, type WalkOutcome } from "../../../src/mirror/walk/course.ts";
import type { Section } from "../../../src/mirror/walk/sections.ts";
import { createWalk } from "../../../src/mirror/walk/walk.ts";
import { type PageRequest, parsePageRequest, requestText } from "../../../src/resources/page-request.ts";
import type { NightMark, Round } from "../../../src/store/ledger/rounds.ts";
import {
  createModelList,
  createRandom,
  type ModelChange,
  type ModelOptions,
} from "../../support/model-list.ts";

const LIST = "/api/v1/build/";
const DAY_MS = 86_400_000;

interface World extends Omit<ModelOptions, "order"> {
  order: "fixed" | "ties";
  pageSize: number;
  /** The nights of a round. */
  days: number;
  /** What happens in a day. */
  byDay: number;
  /** By how much the guess of the place is wrong. */
  wrong: number;
  /** The share of requests that are refused. Each of them ends its night. */
  refused: number;
  /** What the service becomes in a night, behind so many pages of it. */
  change: ModelChange & { night: number; pages: number };
}

/** What the mirror remembers from night to night. */
interface Mirror {
  pages: Section[];
  round: Round | null;
  earlier: readonly NightMark[];
  /** Since when every record was read, as it says, and when each one was. */
  since: string | null;
  readAt: Map<string, number>;
}

function createService(world: World) {
  const model = createModelList(world);
  const random = createRandom(world.seed + 1);
  const { take } = model.source;
  const source = Object.assign(Object.create(model.source) as typeof model.source, {
    async take(request: PageRequest) {
      if (random() < world.refused)
        throw new HttpStatusError("429", { url: requestText(request), status: 429 });
      return take(request);
    },
  });
  return Object.assign(model, { source });
}

/** One night as `readHead`, `readRound` and `readList` have it, without a database. Null where the round is far enough. */
async function readNight(
  mirror: Mirror,
  service: ReturnType<typeof createService>,
  world: World,
  night: number,
) {
  const { days, wrong, pageSize, change } = world;
  const now = new Date(service.now);
  const startedAt = now.toISOString();
  const counted = service.count();
  const { kind } = planRun({
    kind: null,
    resources: ["build"],
    root: { resources: {} } as never,
    fullEveryDays: days,
    now,
    buildsReadSince: mirror.since,
    hasUnsettledDeficit: false,
    fullWalkSeconds: { all: 0, build: 0 },
  });
  const isFull = kind === "full";
  if (isFull) Object.assign(mirror, { round: null, earlier: [] });
  const { round: from, most } = beginNight(mirror.round, { days, counted, now });
  if (most === 0) return null;

  const course = createCourse({
    resource: "build",
    listPath: LIST,
    pageSize,
    isListPath: (path) => path === LIST,
  });
  const seq = from?.checkpoint.seq ?? 0;
  const isRestored = mirror.pages.slice(0, seq).every(course.replay);
  if (!isRestored || (from && !course.resumeAt(from.checkpoint.request)))
    throw new Error("the checkpoint does not fit");
  const sections = mirror.pages.slice(seq);
  const walk = createWalk({
    resource: "build",
    course,
    source: service.source,
    seq,
    earlier: () => sections,
    ...(from && { shift: counted - from.totalCount + wrong }),
    ...(!isFull && { most }),
  });
  const start = from ?? { startedAt, beganRunId: night };
  const nights = () => [...(from?.nights ?? []), { startedAt, ids: walk.first }];
  let outcome: WalkOutcome = { walk: "not_whole", reason: null, totalCount: null, records: 0 };
  let brokenBy: UpstreamError | null = null;
  try {
    const steps = walk.pages();
    for (let step = await steps.next(); ; step = await steps.next()) {
      if (step.done) {
        outcome = step.value;
        break;
      }
      const page = step.value;
      const { following, meta } = page;
      mirror.pages[page.seq] = {
        ...page,
        at: parsePageRequest(page.request) as PageRequest,
        loadedAt: "",
        runId: night,
      };
      for (const id of page.ids) mirror.readAt.set(id, page.askedAt.getTime());
      const checkpoint = { seq: page.seq + 1, request: following ?? "" };
      const soFar = {
        ...start,
        records: course.seen.size,
        nights: nights(),
        totalCount: meta.totalCount ?? 0,
      };
      if (following !== null && !isFull) mirror.round = { ...soFar, checkpoint };
      if (night === change.night && page.seq - seq === change.pages) service.become(change);
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    brokenBy = error;
  }
  const { passes, covers, seen } = course;
  const judged = judgeEnd("build", outcome, course);
  const ended = endNight(mirror.earlier, { ...judged, brokenBy, start, nights: nights(), passes, covers });
  mirror.since = (ended.isOver || !isFull ? ended.readSince : null) ?? mirror.since;
  if (ended.isOver && !isFull) Object.assign(mirror, { round: null, earlier: ended.nights });
  return {
    isOver: ended.isOver,
    isWhole: judged.outcome.walk === "whole",
    start: Date.parse(start.startedAt),
    passes,
    seen,
  };
}

/** Lives through some nights more than two rounds, and says what it was true of. Throws where a promise is broken. */
async function live(world: World) {
  const { days, change } = world;
  const service = createService(world);
  const mirror: Mirror = { pages: [], round: null, earlier: [], since: null, readAt: new Map() };
  const holds = (what: string, night: number, broken: readonly string[]) => {
    if (broken.length > 0) throw new Error(`night ${night}: ${what}: ${broken.slice(0, 20).join(", ")}`);
  };
  const readBefore = (moment: number) => (id: string) => (mirror.readAt.get(id) ?? 0) < moment;
  // Behind a record of which only the place is known no anchor is possible: a list that is cut in that moment may seem to end. Where
  // equal dates change their order, a moment may be too late.
  const isProven = world.order === "fixed" && (!world.unrenderable || !(world.rate || change.isCut));
  const isTroubled = world.refused || world.unrenderable || world.nameless || change.isCut;
  // A night reads two parts of what is counted at most, so what grows far beyond that takes another one.
  const isCounted = world.count === "honest" || world.count === "high";
  let isEven = !isTroubled && isCounted && 10 * Math.max(4, world.byDay) <= world.size;
  let whole = 0;
  for (let night = 0; night < 2 * days + 2; night++) {
    if (night > 0) service.pass(world.byDay, DAY_MS);
    const ended = await readNight(mirror, service, world, night);
    if (ended === null) continue;
    // So nothing that is there can be judged deleted.
    if (ended.isWhole)
      holds(
        "missed by a whole walk",
        night,
        service.stable(ended.start).filter((id) => !ended.seen.has(id)),
      );
    // A record that was read since shows each edit from before, whenever it was made.
    const since = mirror.since === null ? Number.NEGATIVE_INFINITY : Date.parse(mirror.since);
    if (isProven) holds("not read since", night, service.stable(since).filter(readBefore(since)));
    isEven &&= ended.passes === 1 && (ended.isWhole || !ended.isOver);
    if (!isEven) continue;
    const longAgo = service.now - (days + 0.5) * DAY_MS;
    if (ended.start < longAgo + DAY_MS)
      throw new Error(`night ${night}: its round takes longer than its days`);
    holds(
      "not read within the days of a round and a night",
      night,
      service.stable(longAgo - DAY_MS).filter(readBefore(longAgo - DAY_MS)),
    );
    if (ended.isWhole) whole += 1;
  }
  return { isEven, whole };
}

const worlds = fc
  .record({
    seed: fc.integer(),
    size: fc.oneof({ arbitrary: fc.nat(60), weight: 19 }, { arbitrary: fc.nat(250), weight: 1 }),
    pageSize: fc.constantFrom(5, 8, 20, 50),
    order: fc.constantFrom("fixed", "fixed", "ties"),
    maxLimit: fc.constantFrom(1000, 1000, 30, 12),
    lookAhead: fc.nat(4),
    days: fc.integer({ min: 2, max: 4 }),
    byDay: fc.constantFrom(0, 2, 5, 25),
    rate: fc.constantFrom(0, 0, 0.2, 0.5),
    burst: fc.constantFrom(1, 4),
    wrong: fc.constantFrom(0, 0, 0, 30, -30),
    refused: fc.constantFrom(0, 0, 0, 0, 0.05, 0.2),
    unrenderable: fc.constantFrom(0, 0, 0, 0, 0, 0.02),
    nameless: fc.constantFrom(0, 0, 0, 0, 0, 0.02),
    count: fc.constantFrom("honest", "honest", "cached", "estimated", "lagging", "low", "high"),
    showsOrder: fc.constantFrom(true, true, false),
    patience: fc.constant(10_000),
    change: fc.record({
      night: fc.nat(7),
      pages: fc.nat(4),
      maxLimit: fc.constantFrom(1000, 1000, 7, 4),
      isCut: fc.constantFrom(false, false, false, false, true),
      moved: fc.constantFrom(0, 18_000, -18_000),
    }),
  })
  // A list that is cut and miscounted, or shorter than what may be missing, looks as it should.
  .map((world) =>
    world.change.isCut
      ? { ...world, size: 70 + world.size, burst: 1, byDay: Math.min(8, world.byDay), count: "honest" }
      : world,
  )
  // An order that changes from request to request, and that nothing shows, is only believed (`schedules.test.ts`).
  // Records that share a date must fit on a page, as there.
  .map((world) => {
    const { change, pageSize } = world;
    if (world.order !== "ties") return world;
    const maxLimit = Math.max(12, change.maxLimit);
    return { ...world, showsOrder: true, pageSize: Math.max(12, pageSize), change: { ...change, maxLimit } };
  }) as fc.Arbitrary<World>;

async function proves(numRuns: number, seed?: number) {
  const sum = { even: 0, whole: 0 };
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const { isEven, whole } = await live(world);
      sum.even += isEven ? 1 : 0;
      sum.whole += whole;
    }),
    { numRuns, ...(seed !== undefined && { seed }) },
  );
  // The promises are not kept by lists that never come round.
  expect(sum.even).toBeGreaterThan(0);
  expect(sum.whole).toBeGreaterThan(2 * sum.even);
}

it("a round misses nothing when it is whole, and says since when all was read", () => proves(20, 20261128));

it("a round does so in four hundred worlds", { tags: ["long"] }, () => proves(400, 20261128));

it.each(Array.from({ length: 80 }, (_, lot) => lot + 1))(
  "a round does so in 40,000 worlds, lot %i of 80",
  { tags: ["long", "exhaustive"], timeout: 3_600_000 },
  (lot) => proves(500, lot),
);

it("a round takes little more than the requests of a walk without rests", async () => {
  const world: World = {
    seed: 1,
    size: 1500,
    pageSize: 100,
    order: "fixed",
    days: 5,
    byDay: 20,
    showsOrder: true,
    wrong: 0,
    refused: 0,
    change: { night: 99, pages: 0 },
  };
  const service = createService(world);
  const mirror: Mirror = { pages: [], round: null, earlier: [], since: null, readAt: new Map() };
  await readNight(mirror, service, world, 0);
  const before = service.served;
  for (let night = 1; night <= 5; night++) {
    service.pass(20, DAY_MS);
    expect(await readNight(mirror, service, world, night)).toMatchObject({ isOver: night === 5 });
  }
  expect(service.served - before).toBeLessThanOrEqual(17 + 2 * 5);
});
