import { systemClock } from "../../src/base/clock.ts";
import { type Logger, silentLog } from "../../src/base/log.ts";
import type { RunResult } from "../../src/mirror/run/close-run.ts";
import type { SyncOptions, SyncResult } from "../../src/mirror/run/run.ts";
import type { RunOptions } from "../../src/mirror/run/with-run.ts";
import { type SimulationOptions, startSimulation } from "../../src/simulate/service.ts";
import type { WorldOptions } from "../../src/simulate/settings.ts";
import { createWorld, type World } from "../../src/simulate/world.ts";
import { createTestDatabase } from "./database.ts";
import { type Over, syncOnce, watchOnce } from "./sync.ts";

/** A small world on a port and an empty mirror of it, under the world's clock. */
export interface QuickWorld extends AsyncDisposable {
  world: World;
  simulation: Awaited<ReturnType<typeof startSimulation>>;
  databaseUrl: string;
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
