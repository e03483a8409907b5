import { Hono } from "hono";
import { describe, expect, inject, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createMeters, type Meters } from "../../../src/base/metrics/meters.ts";
import type { SyncSettings } from "../../../src/mirror/lists/plan.ts";
import { withReport } from "../../../src/report/refresh/refresh.ts";
import { createReadFigures } from "../../../src/report/status/read-figures.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { createApp } from "../../../src/serve/http/app.ts";
import { createBoundedReader } from "../../../src/serve/http/served-mirror.ts";
import { createMetricsRoute } from "../../../src/serve/http/supervision.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { seriesOf, sumOf } from "../../support/alert-firings.ts";
import { connectionsOf } from "../../support/connections.ts";
import { createTestDatabase, withTestSql } from "../../support/database.ts";
import { NO_LIMIT } from "../../support/no-limit.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";

/** A run of it takes no time, and its list of builds has several pages. */
const FEW = { users: 5, projects: 6, versions: 12, files: 8, builds: 70 };
const OPTIONS = { stuckAfterMs: 7_200_000, sourceTimezone: "Etc/UTC", isWorker: true, ...NO_LIMIT };

/** `/metrics` of a process with these meters over a database. */
async function serveMetrics(databaseUrl: string, meters: Meters = createMeters()) {
  const mirror = { url: () => databaseUrl, reopen() {} };
  const reader = createBoundedReader(mirror, 2000, systemClock);
  const readFigures = createReadFigures(reader.read, OPTIONS, silentLog);
  const metrics = createMetricsRoute(meters.registry, readFigures, 0);
  const app = createApp({ pages: new Hono(), metrics, ratePerSecond: 1, clock: systemClock, log: silentLog });
  return {
    app,
    async text() {
      const reply = await app.request("/metrics");
      expect(reply.status).toBe(200);
      return reply.text();
    },
    [Symbol.asyncDispose]: () => reader.close(),
  };
}

function syncWith(service: QuickWorld, meters: Meters, settings: Partial<SyncSettings> = {}) {
  const given = { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 };
  const connections = connectionsOf(service.databaseUrl);
  const { signal } = new AbortController();
  const run = withReport(() => service.sync({ meters, settings }));
  return run({ settings: given, connections, log: silentLog, signal, meters });
}

/** The service has seen each request, but some that were stopped on their way: a page that was asked for ahead. */
function expectSeen({ simulation }: QuickWorld, text: string): void {
  const { total } = simulation.requests();
  const asked = sumOf(text, "docmirror_http_requests_total");
  expect(total).toBeLessThanOrEqual(asked);
  expect(total).toBeGreaterThanOrEqual(
    asked - sumOf(text, "docmirror_http_requests_total", 'code="stopped"'),
  );
}

describe("/metrics", () => {
  it("agrees with the summary of each run and with what the service counted", async () => {
    await using service = await startQuickWorld({ ...FEW, rates: QUIET });
    const meters = createMeters();
    await using served = await serveMetrics(service.databaseUrl, meters);
    const first = (await syncWith(service, meters)).summary;
    const text = await served.text();
    expect(first.status).toBe("succeeded");
    expect(sumOf(text, "docmirror_http_requests_total")).toBe(first.requests);
    expectSeen(service, text);
    for (const resource of RESOURCES) {
      const { inserted, updated, unchanged } = first.resources[resource] ?? {};
      expect(seriesOf(text, "docmirror_records_total")).toMatchObject({
        [`resource="${resource}",outcome="inserted"`]: inserted,
        [`resource="${resource}",outcome="updated"`]: updated,
        [`resource="${resource}",outcome="unchanged"`]: unchanged,
      });
      // The list, and single records that others refer to.
      const asked = [...service.simulation.requests().byPath]
        .filter(([path]) => path.startsWith(`/api/v1/${resource}/`) && !path.endsWith("/schema/"))
        .reduce((sum, [, requests]) => sum + requests, 0);
      expect(sumOf(text, "docmirror_http_requests_total", `resource="${resource}"`)).toBe(asked);
      expect(seriesOf(text, "docmirror_http_request_duration_seconds_count")).toMatchObject({
        [`resource="${resource}"`]: asked,
      });
    }
    expect(sumOf(text, "docmirror_http_requests_total", 'resource="root"')).toBe(1);
    expect(sumOf(text, "docmirror_http_requests_total", 'resource="schema"')).toBe(RESOURCES.length);
    expect(sumOf(text, "docmirror_load_duration_seconds_count")).toBeGreaterThan(5);
    expect(seriesOf(text, "docmirror_refresh_duration_seconds_count")).toEqual({ "": 1 });
    expect(seriesOf(text, "docmirror_http_queue_requests")).toEqual({
      'state="waiting"': 0,
      'state="running"': 0,
    });

    const second = (await syncWith(service, meters)).summary;
    const after = await served.text();
    expect(sumOf(after, "docmirror_http_requests_total")).toBe(first.requests + second.requests);
    for (const resource of RESOURCES) {
      const [one, two] = [first.resources[resource], second.resources[resource]];
      expect(sumOf(after, "docmirror_records_total", `resource="${resource}",outcome="unchanged"`)).toBe(
        (one?.unchanged ?? 0) + (two?.unchanged ?? 0),
      );
    }
    expect(sumOf(after, "docmirror_runs_total", 'status="succeeded"')).toBe(2);
    expect(sumOf(after, "docmirror_runs_total")).toBe(2);
  });

  it("counts tries, refusals, bad replies and waits for the rate", { tags: ["long"] }, async () => {
    let requests = 0;
    await using service = await startQuickWorld({ ...FEW, rates: QUIET }, async (_request, next) => {
      requests += 1;
      if (requests === 3) return Response.json({}, { status: 429, headers: { "retry-after": "0" } });
      if (requests === 5) return "hang up";
      if (requests === 7) return new Response("<html>", { status: 200 });
      if (requests === 9) return new Response("", { status: 599 });
      return next();
    });
    const meters = createMeters();
    await using served = await serveMetrics(service.databaseUrl, meters);
    const { summary } = await syncWith(service, meters, { ratePerSecond: 200, retries: 3 });
    const text = await served.text();
    expect(summary.status).toBe("succeeded");
    expect(sumOf(text, "docmirror_http_requests_total")).toBe(summary.requests);
    expectSeen(service, text);
    for (const code of ["429", "network", "shape", "5xx"]) {
      expect(sumOf(text, "docmirror_http_requests_total", `code="${code}"`), code).toBe(1);
      expect(seriesOf(text, "docmirror_http_retries_total"), code).toMatchObject({ [`reason="${code}"`]: 1 });
    }
    expect(sumOf(text, "docmirror_http_retries_total")).toBe(4);
    expect(sumOf(text, "docmirror_http_rate_wait_seconds_total")).toBeGreaterThan(0.01);
  });

  it("counts what a stopped run had sent", { tags: ["long"] }, async () => {
    const stop = new AbortController();
    await using service = await startQuickWorld({ ...FEW, rates: QUIET }, async (request, next) => {
      if (/\/build\/\?.*offset=[1-9]/.test(request.url)) {
        stop.abort(new Error("stop"));
        return new Promise((resolve) => request.signal.addEventListener("abort", () => resolve("hang up")));
      }
      return next();
    });
    const meters = createMeters();
    const { summary } = await service.sync({ meters, signal: stop.signal });
    const text = await meters.registry.metrics();
    expect(sumOf(text, "docmirror_http_requests_total")).toBe(summary.requests);
    expect(sumOf(text, "docmirror_http_requests_total", 'code="stopped"')).toBeGreaterThan(0);
    expect(sumOf(text, "docmirror_runs_total", 'kind="full"')).toBe(1);
    expect(sumOf(text, "docmirror_http_queue_requests")).toBe(0);
  });

  it("says only that the database is away while it is", async () => {
    const { url } = await createTestDatabase();
    await using served = await serveMetrics(url);
    expect(seriesOf(await served.text(), "docmirror_database_up")).toEqual({ "": 1 });
    const drop = `drop database ${new URL(url).pathname.slice(1)} with (force)`;
    await withTestSql(inject("databaseServer").adminUrl, (sql) => sql.unsafe(drop));
    const text = await served.text();
    expect(seriesOf(text, "docmirror_database_up")).toEqual({ "": 0 });
    expect(text).not.toMatch(/docmirror_(list|builds|notices|last)_/);
    expect(sumOf(text, "docmirror_build_info")).toBe(1);
  });

  it("is scraped without a limit of rate, by GET and HEAD alone", async () => {
    await using database = await createTestDatabase();
    await using served = await serveMetrics(database.url);
    for (let scrapes = 0; scrapes < 5; scrapes++) await served.text();
    const accept = "application/openmetrics-text";
    const reply = await served.app.request("/metrics", { headers: { accept } });
    expect(reply.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(reply.headers.get("cache-control")).toBe("no-store");
    const head = await served.app.request("/metrics", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await served.app.request("/metrics", { method: "POST" })).status).toBe(405);
  });
});
