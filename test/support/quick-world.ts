import { systemClock } from "../../src/base/clock.ts";
import { type Logger, silentLog } from "../../src/base/log.ts";
import type { RunResult } from "../../src/mirror/run/close-run.ts";
import type { SyncOptions, SyncResult } from "../../src/mirror/run/run.ts";
import type { RunOptions } from "../../src/mirror/run/with-run.ts";
import { type SimulationOptions, startSimulation } from "../../src/simulate/service.ts";
import type { WorldOptions } from "../../src/simulate/settings.ts";
import { createWorld, type World } from "../../src/simulate/world.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase } from "./database.ts";
import { type Over, syncOnce, watchOnce } from "./sync.ts";

/** A small world on a port and an empty mirror of it, under the world's clock. */
export interface QuickWorld extends AsyncDisposable {
  world: World;
  simulation: Awaited<ReturnType<typeof startSimulation>>;
  databaseUrl: string;
  /** One connection to the mirror, opened when it is used first. */
  readonly sql: Sql;
  baseUrl: URL;
  /** One run; pages of 20 unless told otherwise. */
  sync(options?: Over<SyncOptions>): Promise<SyncResult>;
  /** One round of the watch. */
  watch(options?: Over<RunOptions>): Promise<RunResult>;
}

export const SMALL: WorldOptions = { users: 60, projects: 40, versions: 200, files: 150, builds: 900 };

export async function startQuickWorld(
  options: WorldOptions = {},
  intercept?: SimulationOptions["intercept"],
): Promise<QuickWorld> {
  const world = createWorld({ ...SMALL, outputBytes: 200, ...options });
  const simulation = await startSimulation({ world, recordArrivals: true, ...(intercept && { intercept }) });
  const database = await createTestDatabase();
  const baseUrl = new URL(simulation.url);
  const clock = { now: () => world.now(), sleep: systemClock.sleep };
  const ours = { pageSize: 20, retries: 0, sourceTimezone: world.settings.timeZone };
  return {
    world,
    simulation,
    databaseUrl: database.url,
    get sql() {
      return database.sql;
    },
    baseUrl,
    sync: ({ settings, ...rest } = {}) =>
      syncOnce(database.url, baseUrl, { clock, ...rest, settings: { ...ours, ...settings } }),
    watch: ({ settings, ...rest } = {}) =>
      watchOnce(database.url, baseUrl, { clock, ...rest, settings: { ...ours, ...settings } }),
    async [Symbol.asyncDispose]() {
      await simulation.close();
      await database.dispose();
    },
  };
}

/** A log whose messages are kept. */
export function createKeptLog(): { log: Logger; messages(): string[] } {
  const messages: string[] = [];
  const keep = (_facts: unknown, message?: string) => void messages.push(message ?? "");
  const log = Object.assign(Object.create(silentLog), { info: keep, warn: keep, error: keep }) as Logger;
  return { log, messages: () => messages };
}

const MINUTE_MS = 60_000;

/**
 * A world whose mirror has looked at the head of the build list again and again, some minutes apart, over one day; builds were
 * made between the looks. From then on the world's clock is the real one, as long as that is ahead.
 */
export async function startWatchedWorld(
  options: WorldOptions & { readAs?: string; looks?: number; minutesApart?: number },
): Promise<QuickWorld> {
  const { readAs, looks = 4, minutesApart = 5, ...worldOptions } = options;
  const live: { world?: World } = {};
  const quick = await startQuickWorld(
    { users: 5, projects: 6, versions: 12, files: 5, builds: 60, clockSteps: false, ...worldOptions },
    (_request, next) => {
      live.world?.advanceTo(new Date());
      return next();
    },
  );
  const settings = { sourceTimezone: readAs ?? quick.world.settings.timeZone };
  const sync = async (kind: "full" | "incremental") => {
    const { error } = await quick.sync({ kind, settings });
    if (error) throw error;
  };
  await sync("full");
  for (let look = 0; look < looks; look++) {
    quick.world.advance((minutesApart * MINUTE_MS) / 2);
    quick.world.triggerBuilds(3);
    quick.world.advance((minutesApart * MINUTE_MS) / 2);
    await sync("incremental");
  }
  live.world = quick.world;
  return quick;
}
