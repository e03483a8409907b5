import { createMirrorCatalog } from "../catalog/mirror-catalog.ts";
import type { Clock } from "../clock.ts";
import { isLoopback } from "../config/host-name.ts";
import type { Config } from "../config.ts";
import type { Logger } from "../log.ts";
import type { Meters } from "../metrics/meters.ts";
import { createPages } from "../page/pages.ts";
import { createFiguresReader } from "../status/figures-reader.ts";
import { createApp } from "./app.ts";
import { createMetricsRoute } from "./metrics-route.ts";
import { usualRate } from "./rate-limit.ts";
import { createServedMirror, type ServedMirror, type ServedMirrorDeps } from "./served-mirror.ts";
import { startServer } from "./server.ts";

export interface ServeDeps {
  config: Pick<
    Config,
    "httpHost" | "httpPort" | "httpAllowedHosts" | "httpRate" | "httpCors" | "sourceTimezone" | "stuckAfterMs"
  >;
  clock: Clock;
  log: Logger;
  /**
   * Ends the wait for a database that is down. Only one wait runs at a time, so the other requests wait for
   * it too.
   */
  signal: AbortSignal;
}

export interface MetricsOptions {
  /** What this process counts, for `/metrics`. */
  meters: Meters;
  /** Whether this process may lead. */
  isWorker: boolean;
}

export interface MirrorServer {
  readonly url: string;
  readonly mirror: ServedMirror;
  /** Renders the first page, so that no reader has to wait for it. */
  warmUp(): Promise<void>;
  /** May be called twice. */
  close(): Promise<void>;
}

/**
 * Listens at once, even if the database does not answer: every page says so until it does. Throws ConfigError
 * when the address cannot be used.
 */
export async function serveMirror(
  { config, clock, log, signal }: ServeDeps,
  database: Pick<ServedMirrorDeps, "ready">,
  { meters, isWorker }: MetricsOptions,
): Promise<MirrorServer> {
  const {
    httpHost: host,
    httpPort: port,
    httpAllowedHosts,
    httpRate,
    httpCors: origins,
    sourceTimezone,
    stuckAfterMs,
  } = config;
  const ready = (closing: AbortSignal) => database.ready(AbortSignal.any([closing, signal]));
  const mirror = createServedMirror({ ready, log });
  // A connection of its own: while readers have all the others, the database is not away.
  const measured = createServedMirror({ ready, log, connections: 1 });
  const readFigures = createFiguresReader({
    snapshot: measured.snapshot,
    options: { sourceTimezone, stuckAfterMs, isWorker },
    clock,
    log,
  });
  const app = createApp({
    pages: createPages({ mirror, sourceTimezone, clock, log }),
    catalog: createMirrorCatalog(mirror),
    metrics: createMetricsRoute({ registry: meters.registry, readFigures }),
    // The name it listens on is one that its operator chose.
    allowedHosts: [host, ...(httpAllowedHosts ?? [])],
    ratePerSecond: httpRate === "auto" ? usualRate(host) : httpRate,
    origins,
    clock,
    log,
  });
  const server = await startServer({ app, host, port });
  log.info({ url: server.url }, "the report page and the API are up");
  if (!isLoopback(host))
    log.warn(
      { host },
      "other machines may reach this address, and there is no password: see DOCMIRROR_HTTP_HOST and DOCMIRROR_HTTP_ALLOWED_HOSTS",
    );
  // Opened only now, so that an unusable address does not start the embedded Postgres. The caller checks
  // whether it could be opened.
  for (const one of [mirror, measured]) one.open().catch(() => {});
  return {
    url: server.url,
    mirror,
    async warmUp() {
      await app.request("/");
    },
    async close() {
      await server.close();
      await Promise.all([mirror.close(), measured.close()]);
    },
  };
}
