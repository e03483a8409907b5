import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { type Config, defaultValues } from "../../../src/base/config.ts";
import { StoreError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createMeters } from "../../../src/base/metrics/meters.ts";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { serveMirror } from "../../../src/serve/http/serve-mirror.ts";
import { createProbes, createStatusReply } from "../../../src/serve/http/supervision.ts";
import { STATUS } from "../../../tools/contract-page.ts";
import { runCli } from "../../support/cli.ts";
import { countWaits, createTestDatabase } from "../../support/database.ts";
import { linkDatabase } from "../../support/database-link.ts";
import { EACH_AN_HOUR_AGO, seedLeader, seedWalks } from "../../support/health-mirror.ts";
import { later } from "../../support/tally.ts";
import { createKeptLines, sendRaw } from "./simulated-app.ts";

const PATHS = ["/livez", "/readyz", "/status.json"] as const;
const AWAY = "The database does not answer. Try again later.";

/** The server of `worker` and `serve`, over a database that is ready when `ready` says so. */
async function serve(
  databaseUrl: string,
  { ready = async () => databaseUrl, ...config }: Partial<Config> & { ready?: () => Promise<string> } = {},
) {
  const { log, lines } = createKeptLines();
  const stop = new AbortController();
  const deps = { clock: systemClock, log, signal: stop.signal };
  const server = await serveMirror(
    { config: { ...defaultValues(), httpPort: 0, ...config }, ...deps },
    { ready: async () => ({ url: await ready().then((url) => () => url) }) },
    { meters: createMeters(), isWorker: false },
  );
  // A connection that stays open is waited for at the end.
  const ask = (path: string, method = "GET") =>
    fetch(server.url + path, { method, headers: { connection: "close" } });
  return {
    lines,
    server,
    ask,
    statuses: () => Promise.all(PATHS.map(async (path) => (await ask(path)).status)),
    async readiness() {
      const reply = await ask("/readyz");
      return { status: reply.status, ...((await reply.json()) as { ready: boolean; error?: string }) };
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.close();
    },
  };
}

describe("the health of a server", () => {
  it("is told by address, to GET and HEAD alone, and kept by no cache", async () => {
    await using database = await createTestDatabase();
    await using served = await serve(database.url);
    await served.server.mirror.open();
    for (const path of PATHS) {
      const reply = await served.ask(path);
      expect([path, reply.status, reply.headers.get("cache-control")]).toEqual([path, 200, "no-store"]);
      expect(reply.headers.get("x-content-type-options")).toBe("nosniff");
      const head = await served.ask(path, "HEAD");
      expect([head.status, await head.text()]).toEqual([200, ""]);
      const posted = await served.ask(path, "POST");
      expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
      const askFor = (host: string) => sendRaw(served.server, `GET ${path} HTTP/1.1`, `Host: ${host}`);
      expect(await askFor("10.0.0.7:8321")).toContain(" 200 ");
      expect(await askFor("evil.example")).toContain(" 421 ");
    }
    expect(await (await served.ask("/livez")).text()).toBe("ok\n");
    expect(await served.readiness()).toEqual({ status: 200, ready: true });
  });

  it("is told to probes however often they ask, and the document at the rate of all replies", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase();
    await using served = await serve(database.url, { httpRate: 1 });
    await served.server.mirror.open();
    const ask = (path: string) =>
      Promise.all(Array.from({ length: 20 }, async () => (await served.ask(path)).status));
    expect(new Set(await ask("/livez"))).toEqual(new Set([200]));
    expect(new Set(await ask("/readyz"))).toEqual(new Set([200]));
    expect(new Set(await ask("/status.json"))).toEqual(new Set([200, 429]));
  });

  it("is told while every connection of the pages is taken", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase();
    await using served = await serve(database.url);
    await served.server.mirror.open();
    const { sql } = database;
    await sql`select pg_advisory_lock(1)`;
    const readers = Array.from({ length: 12 }, () =>
      served.server.mirror.snapshot((tx) => tx`select pg_advisory_xact_lock_shared(1)`),
    );
    const allRead = Promise.allSettled(readers);
    await expect.poll(() => countWaits(sql)).toBe(8);
    await expect.poll(served.statuses).toEqual([200, 200, 200]);
    expect(await countWaits(sql)).toBe(8);
    await sql`select pg_advisory_unlock(1)`;
    await allRead;
  });

  it("says, without a word about it, that the database is away, and is back", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase();
    await using link = await linkDatabase(database.url);
    await using served = await serve(link.url);
    await served.server.mirror.open();
    expect(await served.readiness()).toEqual({ status: 200, ready: true });
    await link.cut();
    await expect.poll(served.readiness).toEqual({ status: 503, ready: false, error: AWAY });
    expect((await served.ask("/livez")).status).toBe(200);
    const document = await served.ask("/status.json");
    expect([document.status, await document.json()]).toEqual([503, { error: AWAY }]);
    expect(document.headers.get("retry-after")).toBe("10");
    await link.restore();
    await expect.poll(served.readiness).toEqual({ status: 200, ready: true });
    await expect.poll(async () => (await served.ask("/status.json")).status).toBe(200);
    // One line for each change, however often it was asked for.
    const told = served.lines.filter(({ msg }) => /ready for requests$/.test(String(msg)));
    expect(told.map(({ msg, reason }) => [msg, reason])).toEqual([
      ["ready for requests", undefined],
      ["not ready for requests", AWAY],
      ["ready for requests", undefined],
    ]);
  });

  it("says in time that the database is silent, then opens a new connection", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase();
    await using link = await linkDatabase(database.url);
    await using served = await serve(link.url);
    await served.server.mirror.open();
    expect(await served.statuses()).toEqual([200, 200, 200]);
    link.freeze();
    await expect.poll(served.readiness).toMatchObject({ status: 503, error: AWAY });
    // A silent database never answers, so each of these comes by its limit of time.
    expect((await served.statuses()).slice(0, 2)).toEqual([200, 503]);
    await link.restore();
    await expect.poll(served.readiness).toEqual({ status: 200, ready: true });
  });

  it("before the database was ever there is that of a process that lives and is not ready", async () => {
    await using database = await createTestDatabase();
    const ready = later<string>();
    await using served = await serve(database.url, { ready: () => ready.promise });
    expect(await served.statuses()).toEqual([200, 503, 503]);
    expect(await served.readiness()).toEqual({ status: 503, ready: false, error: AWAY });
    ready.resolve(database.url);
    await expect.poll(served.readiness).toEqual({ status: 200, ready: true });
  });

  it("says why where the schema is older", async () => {
    await using database = await createTestDatabase();
    await database.sql`update sync.definitions set hash = '', version = '0.0.0' where name = 'report.freshness'`;
    await using served = await serve(database.url);
    await served.server.mirror.open();
    const error = expect.stringMatching(/lacks the new definition of report\.freshness/);
    expect(await served.readiness()).toEqual({ status: 503, ready: false, error });
    const document = await served.ask("/status.json");
    expect(document.status).toBe(503);
    const schema = expect.objectContaining({ state: "older" });
    expect(await document.json()).toEqual({ error, schema, version: expect.any(String) });
  });
});

describe("a database that a later version migrated by additions alone", () => {
  it("is ready, and its state is newer", async () => {
    await using database = await createTestDatabase();
    await database.sql`insert into sync.migrations (tag, hash, additive) values ('0999_of_tomorrow', 'x', true)`;
    await using served = await serve(database.url);
    await served.server.mirror.open();
    expect(await served.readiness()).toEqual({ status: 200, ready: true });
    const document = await (await served.ask("/status.json")).json();
    expect(document).toMatchObject({ schema: { state: "newer", unknown: 1 } });
  });
});

describe("/status.json", () => {
  it("is the document of `status --json`, which also names the database", async () => {
    await using database = await createTestDatabase();
    await seedWalks(database.sql, { ...EACH_AN_HOUR_AGO, project: 40 }, new Date());
    await seedLeader(database.sql);
    await using served = await serve(database.url, {
      staleAfterMs: 35 * 3_600_000,
      syncCron: "0 0 1 1 *",
      watchCron: "0 0 1 2 *",
      timezone: "Europe/Berlin",
    });
    await served.server.mirror.open();
    const settings = ["--stale-after", "35h", "--sync-cron", "0 0 1 1 *", "--timezone", "Europe/Berlin"];
    const [reply, cli] = await Promise.all([
      served.ask("/status.json"),
      runCli(["status", "--json", ...settings, "--watch-cron", "0 0 1 2 *"], {
        env: { DATABASE_URL: database.url },
      }),
    ]);
    const still = (document: unknown) =>
      JSON.stringify(document, (name, value: unknown) =>
        ["age_ms", "generated_at"].includes(name) ? null : value,
      );
    const { database: place, ...printed } = JSON.parse(cli.stdout);
    const document = (await reply.json()) as typeof STATUS;
    expect(still(printed)).toBe(still(document));
    expect(document).toMatchObject({ stale: true, oldest_list: { resource: "project" } });
    expect(document.next_runs?.[0]?.due_at).toMatch(/-12-31T23:00:00.000Z$/);
    const name = new URL(database.url).pathname;
    expect(place).toContain(name);
    expect(still(document)).not.toContain(name.slice(1));
  });

  it("is read once for all who ask within a few seconds, and so is a failure", async () => {
    const outcomes = [async () => STATUS, async () => Promise.reject(new StoreError("secret"))];
    for (const [index, outcome] of outcomes.entries()) {
      const read = vi.fn(outcome as () => never);
      const reader = { read, close: async () => {} };
      const app = createStatusReply(reader, async () => STATUS, systemClock, silentLog);
      const replies = await Promise.all(Array.from({ length: 50 }, () => app.request("/status.json")));
      replies.push(await app.request("/status.json"));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([[200, 503][index]]));
      const bodies = await Promise.all(replies.map((reply) => reply.text()));
      expect(new Set(bodies).size).toBe(1);
      expect(bodies[0]).not.toContain("secret");
      expect(read).toHaveBeenCalledTimes(1);
    }
  });
});

describe("/readyz", () => {
  it("asks the database once for all who ask at once, and never for /livez", async () => {
    const read = vi.fn(() => Promise.resolve({ fault: null } as never));
    const app = createProbes({ read, close: async () => {} }, readDefinitions(), silentLog);
    for (let asked = 0; asked < 50; asked++) expect((await app.request("/livez")).status).toBe(200);
    expect(read).not.toHaveBeenCalled();
    const replies = await Promise.all(Array.from({ length: 50 }, () => app.request("/readyz")));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(read).toHaveBeenCalledTimes(1);
  });
});
