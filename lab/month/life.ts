/**
 * A world in virtual time, mirrored by a first sync and then watched as the worker does: a round at each tick, a sync each night. Its builds hang
 * and are closed by a job, are born finished, are dated by a clock that is set back, and go; the world moves on while requests are under way.
 */
import type { Clock } from "../../src/base/clock.ts";
import type { RunResult } from "../../src/mirror/run/close-run.ts";
import { createRandom, hash, type Random } from "../../src/simulate/random.ts";
import { QUIET, type WorldOptions } from "../../src/simulate/settings.ts";
import { createWorld, startSimulation, type World } from "../../test/support/simulation.ts";
import { syncOnce, watchOnce } from "../../test/support/sync.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The night's sync, by the clock in UTC. */
const NIGHT_AT_MS = 3 * HOUR_MS;
/** One way in a hundred is slow. */
const SLOW_WAY_MS = 8000;
/** The mean time from one deletion of an open build to the next: deletions at random hardly ever meet one. */
const OPEN_DELETION_MS = 3 * HOUR_MS;

export interface LifeOptions {
  databaseUrl: string;
  seed: number;
  days: number;
  buildsPerDay: number;
  /** Minutes from one round of the watch to the next; null for syncs alone. */
  everyMinutes: number | null;
  world?: WorldOptions;
  /**
   * Whether a run may say that it lacks a build, where the one before did not: where an hour comes twice, builds come below the head
   * while it is read, in all of its readings now and then. @default false
   */
  mayLack?: boolean;
  /** How long a request or its reply is under way at most, but for slow ones. @default 150 */
  wayMs?: number;
  /** Called now and then with the share of the time that is over. */
  onProgress?(done: number): void;
}

/** A run that read the build list, from its beginning to its end in true time. */
export interface Look {
  startMs: number;
  endMs: number;
}

export interface Life {
  world: World;
  /** When the watch began; what was triggered before was there at the first sync. */
  beganMs: number;
  looks: Look[];
  /** Requests that the service got, those of the first sync and the last one not among them. */
  requests: number;
}

/**
 * Lives through the days, which end with a look at the whole list, and returns what there is to judge; the mirror is in the database. Throws when
 * a run does not succeed, but for one that lacks a build where it may.
 */
export async function live(options: LifeOptions): Promise<Life> {
  const { databaseUrl, seed, days, buildsPerDay, everyMinutes, mayLack = false, wayMs = 150 } = options;
  const world = createWorld({
    seed,
    users: 20,
    projects: 40,
    versions: 100,
    files: 20,
    builds: Math.min(200, buildsPerDay),
    outputBytes: 40,
    oddTexts: false,
    stuckShare: 0.01,
    closeStuckAfterMs: 26 * HOUR_MS,
    rates: { ...QUIET, builds: buildsPerDay, buildDeletions: buildsPerDay / 40 },
    ...options.world,
  });
  const moveTo = createMoves(world, createRandom(hash(seed, 0, 1)));
  const random = createRandom(hash(seed, 0, 2));
  /** Whole milliseconds: our clock shows none finer, and must not show less than the time that it is. */
  const pass = () => moveTo(world.now().getTime() + random.int(random.chance(0.01) ? SLOW_WAY_MS : wayMs));
  const simulation = await startSimulation({
    world,
    async intercept(_request, next) {
      pass();
      const reply = await next();
      pass();
      return reply;
    },
  });
  const clock: Clock = {
    now: () => world.now(),
    sleep: async (ms) => moveTo(world.now().getTime() + ms),
  };
  const settings = { retries: 0, sourceTimezone: world.settings.timeZone };
  const baseUrl = new URL(simulation.url);
  const looks: Look[] = [];
  let isLacking = false;
  const look = async (run: () => Promise<RunResult>) => {
    const startMs = world.now().getTime();
    const { summary, error } = await run();
    const { status, resources } = summary;
    const mayThis = mayLack && !isLacking;
    isLacking =
      status === "partial" && /more than are here: a full walk is due$/.test(resources.build?.reason ?? "");
    if (error !== null || (status !== "succeeded" && !(mayThis && isLacking)))
      throw new Error(`seed ${seed}: run ${summary.run_id} ended as ${status}`, {
        cause: error ?? new Error(resources.build?.reason),
      });
    looks.push({ startMs, endMs: world.now().getTime() });
  };
  const sync = (kind: "full" | null = null) =>
    look(() => syncOnce(databaseUrl, baseUrl, { kind, clock, settings }));
  const round = () => look(() => watchOnce(databaseUrl, baseUrl, { clock, settings }));
  try {
    await sync();
    simulation.resetRequests();
    const beganMs = world.now().getTime();
    const endMs = beganMs + days * DAY_MS;
    for (;;) {
      const nowMs = world.now().getTime();
      const nightMs = nextTick(nowMs, DAY_MS, NIGHT_AT_MS);
      const roundMs = everyMinutes === null ? Infinity : nextTick(nowMs, everyMinutes * MINUTE_MS);
      if (Math.min(nightMs, roundMs) > endMs) break;
      moveTo(Math.min(nightMs, roundMs));
      await (nightMs <= roundMs ? sync() : round());
      if (nightMs <= roundMs) options.onProgress?.((nightMs - beganMs) / (endMs - beganMs));
    }
    const requests = simulation.requests().total;
    await sync("full");
    return { world, beganMs, looks, requests };
  } finally {
    await simulation.close();
  }
}

/** The first tick after a moment; one that passed during a run is left out, as the worker leaves it out. */
function nextTick(afterMs: number, everyMs: number, atMs = 0): number {
  return (Math.floor((afterMs - atMs) / everyMs) + 1) * everyMs + atMs;
}

/** Moves the world on, and on the way deletes one of the builds that are open, at moments that no look has an influence on. */
function createMoves(world: World, random: Random): (toMs: number) => void {
  const draw = (fromMs: number) => fromMs + 1 + Math.floor(random.wait(OPEN_DELETION_MS));
  let deletionMs = draw(world.now().getTime());
  return (toMs) => {
    for (; deletionMs <= toMs; deletionMs = draw(deletionMs)) {
      world.advanceTo(new Date(deletionMs));
      const open = openBuilds(world);
      const id = open[random.int(open.length)];
      if (id !== undefined) world.deleteRecord("build", id);
    }
    world.advanceTo(new Date(toMs));
  };
}

function openBuilds(world: World): string[] {
  const gone = new Set(
    world
      .truth()
      .deletions()
      .map(({ id }) => id),
  );
  const states = new Map<string, string>();
  for (const { buildId, to } of world.truth().transitions()) states.set(buildId, to);
  return [...states].flatMap(([id, state]) => (state === "finished" || gone.has(id) ? [] : [id]));
}
