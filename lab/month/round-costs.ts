/** What rounds of the watch ask of the service where so many builds are open that never finish. */

import type { Clock } from "../../src/base/clock.ts";
import { type Logger, silentLog } from "../../src/base/log.ts";
import { createHostPace } from "../../src/mirror/api/host-pace.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { createWorld, startSimulation, type World } from "../../test/support/simulation.ts";
import { syncOnce, watchOnce } from "../../test/support/sync.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
const BEGIN = new Date("2024-05-15T12:00:00Z");
/** Builds below the open ones, so that the list has something to join. */
const FINISHED = 100;

export interface HungBuilds {
  count: number;
  /** Their ages at the first sync, evenly spread in the logarithm. */
  youngestMs: number;
  oldestMs: number;
}

export interface CostOptions {
  databaseUrl: string;
  hung: HungBuilds;
  /** The hours after the first sync in which there are rounds, one a minute; nobody looks in the others. */
  hours: { from: number; to: number };
  /** Whether the service's schema offers builds by their state, as the real one's does. @default true */
  offersState?: boolean;
  log?: Logger;
}

/** What the sixty rounds of an hour asked for. */
export interface HourCost {
  /** Pages of the list of all builds. */
  headPages: number;
  /** Pages of the lists of builds in one state. */
  statePages: number;
  details: number;
  /** The most details in one round. */
  mostDetails: number;
}

/** Mirrors a world whose open builds hang, lets the rounds come, and returns what each hour of them cost. Throws when a run does not succeed. */
export async function measureRounds(options: CostOptions): Promise<HourCost[]> {
  const { databaseUrl, hung, hours, offersState = true, log = silentLog } = options;
  const world = await createHungWorld(hung);
  let round: Omit<HourCost, "mostDetails"> = { headPages: 0, statePages: 0, details: 0 };
  const simulation = await startSimulation({
    world,
    async intercept(request, next) {
      const { pathname, searchParams } = new URL(request.url);
      if (/\/build\/\d+\/$/.test(pathname)) round.details += 1;
      else if (searchParams.has("state")) round.statePages += 1;
      else if (pathname.endsWith("/build/")) round.headPages += 1;
      const reply = await next();
      return pathname.endsWith("/build/schema/") && !offersState ? withoutState(reply) : reply;
    },
  });
  const clock: Clock = { now: () => world.now(), sleep: async (ms) => world.advance(ms) };
  const baseUrl = new URL(simulation.url);
  // A round has room for as many details as the rate allows, while nobody has to wait for them.
  const pace = createHostPace({ ratePerSecond: 0, clock });
  const run = { clock, log, pace, settings: { ratePerSecond: 5, retries: 0 } };
  const succeed = async (running: ReturnType<typeof syncOnce>) => {
    const { summary, error } = await running;
    if (error !== null || summary.status !== "succeeded")
      throw new Error(`run ${summary.run_id} ended as ${summary.status}`, { cause: error });
  };
  try {
    await succeed(syncOnce(databaseUrl, baseUrl, { ...run, kind: "full" }));
    const costs: HourCost[] = [];
    for (let hour = hours.from; hour < hours.to; hour++) {
      const cost: HourCost = { headPages: 0, statePages: 0, details: 0, mostDetails: 0 };
      for (let minute = 1; minute <= 60; minute++) {
        world.advanceTo(new Date(BEGIN.getTime() + hour * HOUR_MS + minute * MINUTE_MS));
        round = { headPages: 0, statePages: 0, details: 0 };
        await succeed(watchOnce(databaseUrl, baseUrl, run));
        cost.headPages += round.headPages;
        cost.statePages += round.statePages;
        cost.details += round.details;
        cost.mostDetails = Math.max(cost.mostDetails, round.details);
      }
      costs.push(cost);
    }
    return costs;
  } finally {
    await simulation.close();
  }
}

/** A world at `BEGIN` in which exactly these builds are open, and stay so. */
async function createHungWorld({ count, youngestMs, oldestMs }: HungBuilds): Promise<World> {
  const world = createWorld({
    startAt: new Date(BEGIN.getTime() - oldestMs - DAY_MS),
    users: 5,
    projects: 10,
    versions: 20,
    files: 5,
    builds: count === 0 ? FINISHED : 0,
    outputBytes: 40,
    oddTexts: false,
    clockSteps: false,
    stuckShare: count === 0 ? 0 : 1,
    rates: QUIET,
  });
  for (let left = count - 1; left >= 0; left--) {
    const ageMs = youngestMs * (oldestMs / youngestMs) ** (left / Math.max(1, count - 1));
    world.advanceTo(new Date(BEGIN.getTime() - ageMs));
    // A pdf is born finished: then there has to be another one.
    for (let state = "finished"; state === "finished"; ) {
      const [id = ""] = world.triggerBuilds(1);
      state = (await world.catalog().find("build", id))?.state ?? "";
    }
  }
  world.advanceTo(BEGIN);
  return world;
}

async function withoutState(reply: Response): Promise<Response> {
  const schema = (await reply.json()) as { filtering?: Record<string, unknown> };
  delete schema.filtering?.state;
  return Response.json(schema, { status: reply.status });
}
