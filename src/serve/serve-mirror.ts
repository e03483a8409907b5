import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import { createPages } from "../page/pages.ts";
import { createApp } from "./app.ts";
import { createServedMirror, type ServedMirror, type ServedMirrorDeps } from "./served-mirror.ts";
import { startServer } from "./server.ts";

export interface ServeDeps {
  config: Pick<Config, "httpHost" | "httpPort" | "sourceTimezone">;
  clock: Clock;
  log: Logger;
  /**
   * Ends the wait for a database that is down; the database is waited for in turns, so the others wait for
   * this one.
   */
  signal: AbortSignal;
}

export interface MirrorServer {
  readonly url: string;
  readonly mirror: ServedMirror;
  /** Makes the first page: it loads what draws charts, for which no reader should wait. */
  warmUp(): Promise<void>;
  /** May be called twice. */
  close(): Promise<void>;
}

/**
 * Listens at once, whether the database answers or not: until it does, every page says so. Throws ConfigError
 * when the address cannot be had.
 */
export async function serveMirror(
  { config, clock, log, signal }: ServeDeps,
  database: Pick<ServedMirrorDeps, "ready">,
): Promise<MirrorServer> {
  const { httpHost: host, httpPort: port, sourceTimezone } = config;
  const mirror = createServedMirror({
    ready: (closing) => database.ready(AbortSignal.any([closing, signal])),
    log,
  });
  const app = createApp([createPages({ mirror, sourceTimezone, clock, log })]);
  const server = await startServer({ app, host, port });
  log.info({ url: server.url }, "the report page is up");
  // Only now: an address that cannot be had should not have started the embedded Postgres. Whether it can be
  // opened is for the caller to ask.
  mirror.open().catch(() => {});
  return {
    url: server.url,
    mirror,
    async warmUp() {
      await app.request("/");
    },
    async close() {
      await server.close();
      await mirror.close();
    },
  };
}
