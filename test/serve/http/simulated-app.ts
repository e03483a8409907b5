import { Hono } from "hono";
import { systemClock } from "../../../src/base/clock.ts";
import { type Logger, silentLog } from "../../../src/base/log.ts";
import { type AppDeps, createApp } from "../../../src/serve/http/app.ts";
import { startServer } from "../../../src/serve/http/server.ts";
import type { Catalog } from "../../../src/serve/protocol/catalog.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { createWorld } from "../../../src/simulate/world.ts";

export interface SimulatedApp extends AsyncDisposable {
  readonly url: string;
  get(path: string, headers?: Record<string, string>, init?: RequestInit): Promise<Response>;
}

/** The records of a small world, in which nothing happens. */
export const worldCatalog = (): Catalog =>
  createWorld({ users: 30, projects: 20, versions: 60, files: 50, builds: 150, rates: QUIET }).catalog();

/** An app over a small world's catalog, on a port. `of` changes parts of the catalog. */
export async function serveWorld(
  of: Partial<Catalog> = {},
  deps: Partial<AppDeps> = {},
  log: Logger = silentLog,
): Promise<SimulatedApp> {
  const pages = new Hono().all("*", (c) => c.html("a page", 404));
  const catalog = { ...worldCatalog(), ...of };
  const app = createApp({ pages, catalog, clock: systemClock, log, ...deps });
  const server = await startServer({ app, host: "127.0.0.1", port: 0, graceMs: 100 });
  return {
    url: server.url,
    get: (path, headers = {}, init = {}) =>
      fetch(server.url + path, { redirect: "manual", headers, ...init }),
    [Symbol.asyncDispose]: async () => void (await server.close()),
  };
}
