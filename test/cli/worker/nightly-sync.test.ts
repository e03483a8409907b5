import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { defaultValues } from "../../../src/base/config.ts";
import { HttpStatusError, LockedError, NetworkError, StoreError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createNightlySync } from "../../../src/cli/worker/nightly-sync.ts";
import { createHostPace } from "../../../src/mirror/api/host-pace.ts";
import type { RunSummary } from "../../../src/mirror/lists/summary.ts";
import type { SyncOptions, SyncResult } from "../../../src/mirror/run/run.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { summaryOf, syncOnce } from "../../support/sync.ts";

const signal = new AbortController().signal;
const lost = new NetworkError("gone", { url: "http://127.0.0.1:1/" });

function createNight(runSync: (options: SyncOptions) => Promise<SyncResult>, url = "postgres://none") {
  return createNightlySync({
    cron: "17 2 * * *",
    timezone: "Etc/UTC",
    settings: { ...defaultValues(), baseUrl: new URL("http://127.0.0.1:1/"), ratePerSecond: 0, retries: 0 },
    database: { ready: async () => url, close: async () => {} },
    pace: createHostPace({ ratePerSecond: 0, clock: systemClock }),
    assertMayRun: async () => {},
    runSync,
    clock: systemClock,
    log: silentLog,
  });
}

function ending(status: RunSummary["status"], error: unknown = null): () => Promise<SyncResult> {
  return async () => ({ summary: summaryOf({ status }), error });
}

describe("a night", () => {
  it.each([
    ["succeeded", null, "done"],
    ["partial", null, "done"],
    ["partial", lost, "failed"],
    ["partial", new HttpStatusError("throttled", { url: "http://127.0.0.1:1/", status: 429 }), "failed"],
    ["failed", lost, "failed"],
    ["failed", new StoreError("down"), "failed"],
  ] as const)("that ends as %s by %s is %s", async (status, error, outcome) => {
    expect(await createNight(ending(status, error)).run(signal)).toBe(outcome);
  });

  it.each(["full", "incremental"])("leaves the work to the %s sync that holds the lock", async (heldBy) => {
    const held = new LockedError("run 7 holds the lock", { heldBy });
    expect(await createNight(() => Promise.reject(held)).run(signal)).toBe("busy");
  });

  it.each(["watch", null])("is not left to a holder that does not do its work: %s", async (heldBy) => {
    const held = new LockedError("run 7 holds the lock", { heldBy });
    await expect(createNight(() => Promise.reject(held)).run(signal)).rejects.toBe(held);
  });

  it("throws what kept its run from beginning", async () => {
    const night = createNight(() => Promise.reject(new StoreError("no rights")));
    await expect(night.run(signal)).rejects.toThrow("no rights");
  });

  it("writes into the database that is ready", async () => {
    let written = "";
    const night = createNight((options) => {
      written = options.settings.databaseUrl;
      return ending("succeeded")();
    }, "postgres://ready");
    await night.run(signal);
    expect(written).toBe("postgres://ready");
  });
});

describe("the mirror is good up to", () => {
  async function insertWalks({ sql }: TestDatabase, starts: Record<string, string>, walk = "whole") {
    const [run] = await sql<{ id: number }[]>`
      insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host)
      values ('full', 'succeeded', now(), now(), 1, 'here') returning id`;
    for (const [resource, at] of Object.entries(starts))
      await sql`
        insert into sync.walks (run_id, resource, started_at, finished_at, walk)
        values (${run?.id ?? 0}, ${resource}, ${at}::timestamptz, ${at}::timestamptz, ${walk})`;
  }
  const allAt = (at: string) => Object.fromEntries(RESOURCES.map((resource) => [resource, at]));

  it("the start of the walk of the list that was read longest ago", async () => {
    await using database = await createTestDatabase();
    const night = createNight(ending("succeeded"), database.url);
    await insertWalks(database, allAt("2026-03-09T02:17:00Z"));
    await insertWalks(database, { build: "2026-03-10T02:17:00Z" }, "head");
    expect(await night.lastGoodAt?.(signal)).toEqual(new Date("2026-03-09T02:17:00Z"));
    await insertWalks(database, allAt("2026-03-11T02:17:00Z"), "not_whole");
    expect(await night.lastGoodAt?.(signal)).toEqual(new Date("2026-03-09T02:17:00Z"));
  });

  it("nothing while one list was never read well, whatever became of the run", async () => {
    await using database = await createTestDatabase();
    const night = createNight(ending("succeeded"), database.url);
    const failed = await syncOnce(database.url, new URL("http://127.0.0.1:1/"), { settings: { retries: 0 } });
    expect(failed.summary.status).toBe("failed");
    expect(await night.lastGoodAt?.(signal)).toBeNull();
    await insertWalks(database, { user: "2026-03-09T02:17:00Z" });
    expect(await night.lastGoodAt?.(signal)).toBeNull();
  });

  it("nothing where a clock dated a walk ten years ahead", async () => {
    await using database = await createTestDatabase();
    const night = createNight(ending("succeeded"), database.url);
    const ahead = new Date(Date.now() + 3650 * 86_400_000).toISOString();
    await insertWalks(database, { ...allAt("2026-03-09T02:17:00Z"), user: ahead });
    expect(await night.lastGoodAt?.(signal)).toBeNull();
  });
});
