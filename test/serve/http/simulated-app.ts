import { once } from "node:events";
import { connect } from "node:net";
import { Hono } from "hono";
import { pino } from "pino";
import { systemClock } from "../../../src/base/clock.ts";
import { type Logger, silentLog } from "../../../src/base/log.ts";
import { type AppDeps, createApp } from "../../../src/serve/http/app.ts";
import { startServer } from "../../../src/serve/http/server.ts";
import type { Catalog } from "../../../src/serve/protocol/catalog.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { createWorld } from "../../support/simulation.ts";

export interface SimulatedApp extends AsyncDisposable {
  readonly url: string;
  get(path: string, headers?: Record<string, string>, init?: RequestInit): Promise<Response>;
}

export function createKeptLines(level = "info") {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, level }, { write: (line: string) => lines.push(JSON.parse(line)) });
  return { log, lines };
}

/** Sends bytes as they are, which clients would change, and reads until the server closes the connection. */
export async function talk(url: string, sent: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let reply = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    reply += chunk;
  });
  socket.write(sent);
  await once(socket, "close");
  return reply;
}

/** The same with a request of these lines, after which the connection ends. */
export const sendRaw = ({ url }: { url: string }, ...lines: string[]): Promise<string> =>
  talk(url, `${[...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);

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
