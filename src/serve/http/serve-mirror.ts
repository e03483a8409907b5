import type { Clock } from "../../base/clock.ts";
import { isLoopback } from "../../base/config/addresses.ts";
import type { SettingsFor } from "../../base/config/settings.ts";
import type { Logger } from "../../base/log.ts";
import type { Meters } from "../../base/metrics/meters.ts";
import { createPages } from "../../page/pages.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { createReadFigures } from "../../report/status/read-figures.ts";
import { createReadStatus } from "../../report/status/read-status.ts";
import { createMirrorCatalog } from "../catalog/mirror-catalog.ts";
import { createApp, usualRate } from "./app.ts";
import { createBoundedReader, createServedMirror } from "./served-mirror.ts";
import { GRACE_MS, startServer } from "./server.ts";
import { createMetricsRoute, createProbes, createStatusReply } from "./supervision.ts";

/** Supervisors often wait for a second or two. */
const READY_WITHIN_MS = 2000;
const STATUS_WITHIN_MS = 10_000;
/** A scrape has 10 s as a rule, and must still say that the database is away. */
const FIGURES_WITHIN_MS = 2000;
/** Opening the database takes a part of a second. Clients that ask meanwhile should not see how a restart goes. */
const START_MS = 2000;
/** Clients that ask again and again do so within a second. */
const DRAIN_MS = 1000;

/** A quarter of all (`connection-bounds.ts`). A browser opens six. */
const CONNECTIONS_OF_CLIENT = 250;

export type MirrorServer = Awaited<ReturnType<typeof serveMirror>>;

/**
 * Listens at once, even if the database does not answer: every page says so until it does. Throws ConfigError when the address
 * cannot be used. `signal` ends the server, and the wait for a database that is down, which all requests share. `meters` are
 * what this process counts; `isWorker` says whether it may lead.
 */
export async function serveMirror(
  deps: { config: SettingsFor<"server" | "status">; clock: Clock; log: Logger; signal: AbortSignal },
  database: { ready(signal: AbortSignal): Promise<{ url(): string }> },
  { meters, isWorker }: { meters: Meters; isWorker: boolean },
) {
  const { config, clock, log, signal } = deps;
  const { httpHost: host, httpPort: port, httpAllowedHosts, httpRate, sourceTimezone, staleAfterMs } = config;
  const ready = async (closing: AbortSignal) =>
    (await database.ready(AbortSignal.any([closing, signal]))).url();
  const mirror = createServedMirror({ ready, log, startMs: START_MS });
  const definitions = readDefinitions();
  // Each has a connection of its own, so that a slow document makes nothing look dead.
  const readyReader = createBoundedReader(mirror, READY_WITHIN_MS, clock);
  const statusReader = createBoundedReader(mirror, STATUS_WITHIN_MS, clock);
  const figuresReader = createBoundedReader(mirror, FIGURES_WITHIN_MS, clock);
  const readFigures = createReadFigures(figuresReader.read, { ...config, isWorker }, log);
  const readStatus = createReadStatus(config, definitions);
  const ratePerSecond = httpRate === "auto" ? usualRate(host) : httpRate;
  const app = createApp({
    probes: createProbes(readyReader, definitions, log),
    metrics: createMetricsRoute(meters.registry, readFigures),
    status: createStatusReply(statusReader, readStatus, clock, log),
    pages: createPages({ mirror, sourceTimezone, staleAfterMs, clock, log }),
    catalog: createMirrorCatalog(mirror),
    // The name it listens on is one that its operator chose.
    allowedHosts: [host, ...(httpAllowedHosts ?? [])],
    ratePerSecond,
    origins: config.httpCors,
    clock,
    log,
  });
  const bounds = {
    // Where each client has a rate of its own, none may take all connections either.
    mostOfClient: ratePerSecond === 0 ? undefined : CONNECTIONS_OF_CLIENT,
    onFull: (facts: object) =>
      log.warn(facts, "there were too many connections; the one that was silent longest was closed"),
  };
  const server = await startServer({ app, host, port, drainMs: DRAIN_MS, bounds });
  log.info({ url: server.url }, "the report page and the API are up");
  if (!isLoopback(host))
    log.warn(
      { host },
      "other machines may reach this address, and there is no password: see DOCMIRROR_HTTP_HOST and DOCMIRROR_HTTP_ALLOWED_HOSTS",
    );
  // Opened only now, so that an unusable address does not start the embedded Postgres. The caller opens it again.
  mirror.open().catch(() => {});

  async function close(): Promise<void> {
    log.info("the port is closed; requests under way are still answered");
    const replies = await server.close();
    if (replies > 0)
      log.warn({ replies, after_ms: GRACE_MS }, "replies that took too long after the stop were cut");
    await Promise.all([readyReader, statusReader, figuresReader, mirror].map((one) => one.close()));
    log.info("the server has ended");
  }

  let closed: Promise<void> | undefined;
  const closeOnce = () => {
    closed ??= close();
    return closed;
  };
  // At once: the command itself may be busy with something that takes long.
  signal.addEventListener("abort", () => void closeOnce().catch(() => {}), { once: true });

  return {
    url: server.url,
    mirror,
    /** Renders the first page, so that no reader has to wait for it. */
    async warmUp() {
      await app.request("/");
    },
    /** Answers what runs, and only then leaves the database. May be called twice. */
    close: closeOnce,
  };
}
