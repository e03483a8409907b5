/** A service of two replicas, of which one is behind: what is not there yet is not gone. */
import { describe, expect, test } from "vitest";
import { defaultValues } from "../../../src/base/config.ts";
import type { RunResult } from "../../../src/mirror/run/close-run.ts";
import { RESOURCES, type Resource } from "../../../src/resources/resources.ts";
import { QUIET, type WorldOptions } from "../../../src/simulate/settings.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { createWorld, startSimulation } from "../../support/simulation.ts";

const MINUTE_MS = 60_000;
const BEHIND_MS = 8 * MINUTE_MS;
const settings = { replicaLagMs: defaultValues().replicaLagMs };
const WORLD: WorldOptions = {
  seed: 5,
  users: 40,
  projects: 10,
  versions: 40,
  files: 40,
  builds: 150,
  outputBytes: 200,
  // Deletions are made by hand: both replicas have them, each in its time.
  rates: { ...QUIET, builds: 1200, newVersions: 400, newUsers: 200, newFiles: 200 },
  hiddenShare: 0,
  stuckShare: 0.1,
  clockSteps: false,
};

interface Replicated extends QuickWorld {
  /** The share of the requests that the replica behind answers. */
  behindShare: number;
  advance(ms: number): void;
  remove(resource: Resource, id: string): void;
}

/** Two replicas: one is as the world is now, the other one as it was eight minutes ago. */
async function startReplicated(): Promise<Replicated> {
  const replica = createWorld(WORLD);
  const behind = await startSimulation({ world: replica });
  let turn = 0;
  const quick = await startQuickWorld(WORLD, (request, next) => {
    turn += 1;
    const isBehind = (turn * 0.618) % 1 < replicated.behindShare;
    const { pathname, search } = new URL(request.url);
    return isBehind ? fetch(behind.url + pathname + search) : next();
  });
  const deletions: { resource: Resource; id: string; at: Date }[] = [];
  const replicated: Replicated = Object.assign(quick, {
    behindShare: 0,
    advance(ms: number) {
      quick.world.advance(ms);
      const until = new Date(quick.world.now().getTime() - BEHIND_MS);
      while (deletions[0] && deletions[0].at <= until) {
        const { resource, id, at } = deletions[0];
        replica.advanceTo(at);
        replica.deleteRecord(resource, id);
        deletions.shift();
      }
      if (until > replica.now()) replica.advanceTo(until);
    },
    remove(resource: Resource, id: string) {
      quick.world.deleteRecord(resource, id);
      deletions.push({ resource, id, at: quick.world.now() });
    },
  });
  const close = quick[Symbol.asyncDispose].bind(quick);
  replicated[Symbol.asyncDispose] = async () => {
    await close();
    await behind.close();
  };
  return replicated;
}

/** The records that were ever stored, or those of them that are deleted. */
async function idsOf({ sql }: QuickWorld, which = "true"): Promise<string[]> {
  const lists = RESOURCES.map((name) => `select '${name} ' || id as id from mirror.${name}s where ${which}`);
  return (await sql.unsafe(lists.join(" union all "))).map(({ id }) => id).sort();
}
const deletedIds = (quick: QuickWorld) => idsOf(quick, "deleted_at is not null");

const vanishedIds = async ({ sql }: QuickWorld) =>
  (
    await sql`select distinct 'build ' || build_id as id from mirror.build_transitions where to_state = 'vanished'`
  ).map(({ id }) => id);

describe("a service of two replicas that are eight minutes apart", () => {
  test("loses nothing in rounds and syncs; what is gone is marked later", { tags: ["long"] }, async () => {
    await using quick = await startReplicated();
    quick.advance(BEHIND_MS);
    expect((await quick.sync({ settings })).summary.status).toBe("succeeded");
    const really = () =>
      quick.world
        .truth()
        .deletions()
        .map(({ resource, id }) => `${resource} ${id}`);
    const results: RunResult[] = [];
    let waited = 0;
    for (let round = 0; round < 12; round++) {
      quick.advance(2 * MINUTE_MS);
      if (round % 4 === 1) {
        const live = (resource: Resource) => [...quick.world.truth().records(resource)];
        for (const resource of ["build", "file", "user"] as const)
          quick.remove(resource, live(resource)[5 + round]?.record.id ?? "");
      }
      // The watch stores what the current replica shows, and the sync meets the other one, or a mix.
      quick.behindShare = [0, 1, 0.5][round % 3] ?? 0;
      const result =
        round % 3 === 1 ? await quick.sync({ kind: "full", settings }) : await quick.watch({ settings });
      results.push(result);
      waited += result.summary.unfinished.waiting;
      const gone = new Set(really());
      expect((await deletedIds(quick)).filter((id) => !gone.has(id))).toEqual([]);
      expect((await vanishedIds(quick)).filter((id) => !gone.has(id))).toEqual([]);
    }
    expect(waited).toBeGreaterThan(0);
    quick.behindShare = 0;
    quick.advance(settings.replicaLagMs + BEHIND_MS);
    expect((await quick.sync({ kind: "full", settings })).summary).toMatchObject({
      status: "succeeded",
      unfinished: { deletions: 0, waiting: 0 },
    });
    const known = new Set(await idsOf(quick));
    const expected = really().filter((id) => known.has(id));
    expect(expected.length).toBeGreaterThan(5);
    expect(await deletedIds(quick)).toEqual(expected.sort());
  });

  test("is told as one that lags when its head is older than a build that was seen, and makes no deficit", {
    tags: ["long"],
  }, async () => {
    await using quick = await startReplicated();
    quick.advance(BEHIND_MS);
    await quick.sync({ settings });
    quick.advance(6 * MINUTE_MS);
    expect((await quick.watch({ settings })).summary.resources.build?.inserted).toBeGreaterThan(0);
    quick.behindShare = 1;
    const { summary } = await quick.watch({ settings });
    expect(summary).toMatchObject({ status: "succeeded", unfinished: { deficit: 0 } });
    expect(summary.resources.build).toMatchObject({
      walk: "head",
      lagging: true,
      reason: expect.stringMatching(/^build list: its head is older than build \d+, which was seen before/),
    });
    const next = await quick.sync({ settings });
    expect(next.summary).toMatchObject({ kind: "incremental", resources: { build: { walk: "head" } } });
  });
});
