import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll } from "vitest";
import { type Logger, silentLog } from "../../src/base/log.ts";
import type { SyncOptions } from "../../src/mirror/run/run.ts";
import type { RunOptions } from "../../src/mirror/run/with-run.ts";
import type { Resource } from "../../src/resources/resources.ts";
import type { WorldOptions } from "../../src/simulate/settings.ts";
import { createTestDatabase } from "./database.ts";
import { createWorld, type SimulationOptions, startSimulation, type World } from "./simulation.ts";
import { type Over, syncOnce, watchOnce } from "./sync.ts";

export type QuickWorld = Awaited<ReturnType<typeof startQuickWorld>>;
export type Intercept = NonNullable<SimulationOptions["intercept"]>;

export const SMALL: WorldOptions = { users: 60, projects: 40, versions: 200, files: 150, builds: 900 };

/** A small world on a port and a mirror of it, empty or a copy of this one, under the world's clock, by which no wait takes long. */
export async function startQuickWorld(options: WorldOptions = {}, intercept?: Intercept, copyOf?: string) {
  const world = createWorld({ ...SMALL, outputBytes: 200, ...options });
  const simulation = await startSimulation({ world, recordArrivals: true, ...(intercept && { intercept }) });
  const database = await createTestDatabase(copyOf === undefined ? {} : { copyOf });
  // The service is on another port, and a copy is no news.
  if (copyOf !== undefined) await database.sql.unsafe("delete from sync.service; delete from sync.places");
  const baseUrl = new URL(simulation.url);
  const clock = {
    now: () => world.now(),
    // The world's clock stands still meanwhile, so a wait shows nothing but that it took its time.
    async sleep(_ms: number, signal?: AbortSignal) {
      await nextTurn();
      signal?.throwIfAborted();
    },
  };
  const ours = { pageSize: 20, retries: 0, sourceTimezone: world.settings.timeZone };
  return {
    world,
    simulation,
    database,
    databaseUrl: database.url,
    /** One connection to the mirror, opened when it is used first. */
    get sql() {
      return database.sql;
    },
    baseUrl,
    sync: ({ settings, ...rest }: Over<SyncOptions> = {}) =>
      syncOnce(database.url, baseUrl, { clock, ...rest, settings: { ...ours, ...settings } }),
    /** One round of the watch. */
    watch: ({ settings, ...rest }: Over<RunOptions> = {}) =>
      watchOnce(database.url, baseUrl, { clock, ...rest, settings: { ...ours, ...settings } }),
    async [Symbol.asyncDispose]() {
      await simulation.close();
      await database.dispose();
    },
  };
}

/**
 * Worlds that are all alike, for the tests of a file, each with a mirror that has read it: the first one is read, and the others get copies
 * of its database.
 */
export function useMirrored<Q extends QuickWorld>(
  start: (copyOf?: string) => Promise<Q>,
  read: (quick: Q) => Promise<unknown>,
): () => Promise<Q> {
  let first: Promise<Q> | undefined;
  const readFirst = async () => {
    const quick = await start();
    await read(quick);
    await quick.simulation.close();
    return quick;
  };
  afterAll(async () => (await first)?.database.dispose());
  return async () => {
    first ??= readFirst();
    const { databaseUrl, world } = await first;
    const quick = await start(databaseUrl);
    quick.world.advanceTo(world.now());
    return quick;
  };
}

/** A service whose good replies have the text that `edit` makes of theirs; null leaves one as it is. */
export function editReplies(edit: (text: string, url: URL) => string | null): Intercept {
  return async (request, next) => {
    const reply = await next();
    const text = reply.status === 200 ? edit(await reply.clone().text(), new URL(request.url)) : null;
    return text === null ? reply : new Response(text, { headers: { "content-type": "application/json" } });
  };
}

/** The same for the pages of one list, whose records `change` may change. */
export function editPages<R extends object = Record<string, unknown>>(
  resource: Resource,
  change: (records: R[], url: URL) => unknown,
): Intercept {
  return editReplies((text, url) => {
    if (!url.pathname.endsWith(`/${resource}/`)) return null;
    const page = JSON.parse(text) as { objects: R[] };
    change(page.objects, url);
    return JSON.stringify(page);
  });
}

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
