/** Replies of a cache, which say by `Age` how many seconds ago the service made them. */
import { afterEach, expect, test } from "vitest";
import type { RunOptions } from "../../../src/mirror/run/with-run.ts";
import { verifyMirror } from "../../../src/mirror/verify/verify.ts";
import { findRecord } from "../../../src/serve/catalog/mirror-catalog.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { findListFreshness, findReadSince } from "../../../src/store/ledger/list-freshness.ts";
import { type Intercept, type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { type Over, withDefaults } from "../../support/sync.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The replies of lists that a cache has, by their path and query: made in virtual time, and kept from then on. */
function createCache() {
  const kept = new Map<string, { body: string; atMs: number }>();
  const cache = {
    quick: null as QuickWorld | null,
    isOn: false,
    /** Instead of the true age. */
    age: null as string | null,
    keeps: (path: string): boolean => /^\/api\/v1\/(build|user)\/\?/.test(path),
    async intercept(...[request, next]: Parameters<Intercept>): Promise<Response> {
      const { pathname, search } = new URL(request.url);
      const path = pathname + search;
      if (!cache.quick || !cache.keeps(path)) return next();
      const now = cache.quick.world.now().getTime();
      const known = cache.isOn ? kept.get(path) : undefined;
      if (!known) {
        const body = await (await next()).text();
        kept.set(path, { body, atMs: now });
        return new Response(body, { headers: { "content-type": "application/json" } });
      }
      const age = cache.age ?? String(Math.floor((now - known.atMs) / 1000));
      return new Response(known.body, { headers: { "content-type": "application/json", age } });
    },
  };
  return cache;
}

let open: QuickWorld | null = null;
afterEach(async () => {
  await open?.[Symbol.asyncDispose]();
  open = null;
});

async function start(world = {}) {
  const cache = createCache();
  const few = { users: 4, projects: 4, versions: 6, files: 4, builds: 30, rates: QUIET, hiddenShare: 0 };
  open = await startQuickWorld({ ...few, ...world }, cache.intercept);
  cache.quick = open;
  await open.sync({ kind: "full" });
  return { cache, ...open, sql: open.sql, madeAt: open.world.now().getTime() };
}

const readAt = async ({ sql }: Pick<QuickWorld, "sql">, resource: "build" | "user" = "build") =>
  Date.parse((await findReadSince(sql, resource)) ?? "");
const currentThrough = async ({ sql }: Pick<QuickWorld, "sql">) =>
  Date.parse((await findListFreshness(sql)).find(({ resource }) => resource === "build")?.startedAt ?? "");

test.each(["full", "incremental"] as const)("make a list no newer than they are: %s", async (kind) => {
  const quick = await start();
  const { cache, world, sync, madeAt } = quick;
  world.advance(2 * HOUR_MS);
  cache.isOn = true;
  expect((await sync({ kind, settings: { fullEveryDays: 7 } })).summary.status).toBe("succeeded");
  // An age in seconds may be a second more.
  const [row] =
    await quick.sql`select started_at from sync.walks where resource = 'build' order by run_id desc limit 1`;
  expect(Math.abs(Date.parse(row?.started_at) - madeAt)).toBeLessThanOrEqual(1000);
  expect(Math.abs((await currentThrough(quick)) - madeAt)).toBeLessThanOrEqual(1000);
  expect(await readAt(quick)).toBeLessThanOrEqual(madeAt);
});

test("leave an open build as it was seen, though its page was skipped unparsed", {
  tags: ["long"],
}, async () => {
  const quick = await start({ stuckShare: 1 });
  const { cache, world, sql, sync, madeAt } = quick;
  world.triggerBuilds(1);
  await sync({ kind: "full" });
  world.advance(2 * HOUR_MS);
  cache.isOn = true;
  cache.keeps = (path) => /^\/api\/v1\/build\//.test(path);
  await sync({ kind: "full" });
  const rows = await sql<{ seen_at: string }[]>`select seen_at from sync.open_builds`;
  expect(rows.length).toBeGreaterThan(0);
  for (const { seen_at } of rows) expect(Date.parse(seen_at)).toBeLessThanOrEqual(madeAt + 1000);
});

test("do not prove a record wrong, because it may have changed after them", { tags: ["long"] }, async () => {
  const quick = await start();
  const { cache, world, sync, databaseUrl, baseUrl } = quick;
  const check = async () => {
    world.advance(HOUR_MS);
    const clock = { now: () => world.now(), sleep: async () => {} };
    const settings = { retries: 0, replicaLagMs: 0, sourceTimezone: world.settings.timeZone };
    const options = withDefaults<RunOptions>(databaseUrl, baseUrl, { clock, settings } as Over<RunOptions>);
    const all = { resources: ["user" as const], sample: 100, waitMs: 0, findServed: findRecord };
    return (await verifyMirror({ ...options, ...all })).all;
  };
  await quick.sql`update mirror.users set first_name = 'old', record_hash = '\\x00' where id = (select min(id) from mirror.users)`;
  cache.isOn = true;
  expect(await check()).toMatchObject({ changed: 1, wrong: 0 });
  // The list is read again, but as it was before that look.
  world.advance(HOUR_MS);
  expect((await sync({ kind: "full" })).summary.status).toBe("succeeded");
  expect(await check()).toMatchObject({ changed: 1, wrong: 0 });
  cache.isOn = false;
  world.advance(HOUR_MS);
  expect((await sync({ kind: "full" })).summary.status).toBe("succeeded");
  expect(await check()).toMatchObject({ changed: 0, wrong: 1 });
});

test.each(["soon", "99999999999999999999"])("with the age %j bring no list into disorder", async (age) => {
  const quick = await start();
  const { cache, world, sync, madeAt } = quick;
  world.advance(2 * HOUR_MS);
  cache.isOn = true;
  cache.age = age;
  const { summary } = await sync({ kind: "full" });
  expect(summary.status).toBe("succeeded");
  const since = await readAt(quick);
  expect(since).toBeLessThanOrEqual(world.now().getTime());
  expect(since).toBeGreaterThanOrEqual(madeAt - 367 * DAY_MS);
});
