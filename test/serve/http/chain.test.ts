import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DECLARATIONS, RESOURCES } from "../../../src/resources/resources.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { recordedExchanges } from "../../support/recorded-exchanges.ts";
import { startReplay } from "../../support/replay-upstream.ts";
import { type ServedInterface, serveInterface } from "../../support/served-pages.ts";
import { syncOnce } from "../../support/sync.ts";

const TABLES = [
  ...RESOURCES.map((resource) => `${resource}s`),
  ...["project_users", "build_logs", "unresolved_references"],
];
const OWN = new Set([
  ...["first_seen_at", "changed_at", "checked_at", "asked_at"],
  ...["first_seen_run_id", "changed_run_id", "run_id", "record_hash"],
]);

async function rowsOf(sql: Sql, table: string): Promise<string[]> {
  const live = ["project_users", "unresolved_references"].includes(table)
    ? sql``
    : table === "build_logs"
      ? sql`where build_id in (select id from mirror.builds where deleted_at is null)`
      : sql`where deleted_at is null`;
  const rows = await sql<Record<string, unknown>[]>`select * from mirror.${sql(table)} ${live}`;
  return rows
    .map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).filter(([name]) => !OWN.has(name)))))
    .sort();
}

interface Page {
  meta: { next: string | null; previous: string | null; total_count: number };
  objects: Record<string, unknown>[];
}

async function crawl(served: ServedInterface): Promise<Map<string, string>> {
  const bodies = new Map<string, string>();
  const ask = async (path: string): Promise<unknown> => {
    const reply = await served.get(path);
    const body = await reply.text();
    bodies.set(path, `${reply.status} ${body}`);
    return reply.status === 200 ? JSON.parse(body) : null;
  };
  await ask("/api/v1/");
  for (const resource of RESOURCES) {
    await ask(`/api/v1/${resource}/schema/`);
    for (const limit of [20, 60]) {
      let next: string | null = `/api/v1/${resource}/?format=json&limit=${limit}`;
      while (next) {
        const page = (await ask(next)) as Page;
        next = page.meta.next;
        if (limit === 20) for (const { id } of page.objects) await ask(`/api/v1/${resource}/${id}/`);
      }
    }
  }
  const { objects: projects } = (await ask("/api/v1/project/?limit=1000")) as Page;
  for (const { slug, id } of projects) {
    for (const path of [
      `project/${slug}/`,
      `version/${slug}/?limit=2`,
      `build/${slug}/?limit=3`,
      `build/?project__slug=${slug}&limit=3`,
      `build/?project=${id}&state=finished&limit=2`,
      `file/?project__slug=${slug}`,
    ])
      await ask(`/api/v1/${path}`);
  }
  return bodies;
}

describe("a mirror of a mirror", () => {
  let quick: QuickWorld;
  let second: TestDatabase;
  let first: ServedInterface;

  beforeAll(async () => {
    quick = await startQuickWorld({ hiddenShare: 0.15, builds: 150, versions: 60, files: 40 });
    await quick.sync();
    quick.world.advance(2 * 86_400_000);
    await quick.sync({ kind: "full" });
    first = await serveInterface(quick.databaseUrl);
    second = await createTestDatabase();
    await syncOnce(second.url, new URL(first.url), {
      settings: { sourceTimezone: quick.world.settings.timeZone },
    });
  });

  afterAll(async () => {
    await first?.[Symbol.asyncDispose]();
    await second?.dispose();
    await quick?.[Symbol.asyncDispose]();
  });

  it.each(TABLES)("has the same rows in mirror.%s", async (table) => {
    const [one, other] = [await rowsOf(quick.sql, table), await rowsOf(second.sql, table)];
    expect(one?.length).toBeGreaterThan(0);
    expect(other).toEqual(one);
  });

  it("answers every path with the same body, byte by byte", { tags: ["long"] }, async () => {
    await using again = await serveInterface(second.url);
    const [one, other] = [await crawl(first), await crawl(again)];
    expect([...other.keys()]).toEqual([...one.keys()]);
    expect([...one].filter(([path, body]) => other.get(path) !== body)).toEqual([]);
    expect(one.size).toBeGreaterThan(500);
  });

  it("serves each live record as the service does", async () => {
    for (const resource of RESOURCES) {
      const [{ objects: ours }, theirs] = await Promise.all([
        first.json(`/api/v1/${resource}/?limit=1000`) as Promise<Page>,
        (await fetch(`${quick.simulation.url}/api/v1/${resource}/?limit=1000`)).json() as Promise<Page>,
      ]);
      const byId = (a: Record<string, unknown>, b: Record<string, unknown>) => Number(a.id) - Number(b.id);
      expect([...ours].sort(byId)).toEqual([...theirs.objects].sort(byId));
      // Upstream has no order among records whose key is equal.
      const key = DECLARATIONS[resource].order?.by;
      const keys = (records: Record<string, unknown>[]) => records.map((record) => key && record[key]);
      expect(keys(ours)).toEqual(keys(theirs.objects));
    }
  });
});

describe("a mirror of the recorded service", () => {
  let replay: Awaited<ReturnType<typeof startReplay>>;
  let database: TestDatabase;
  let served: ServedInterface;

  beforeAll(async () => {
    replay = await startReplay();
    database = await createTestDatabase();
    await syncOnce(database.url, replay.url);
    served = await serveInterface(database.url);
  });

  afterAll(async () => {
    await served?.[Symbol.asyncDispose]();
    await replay?.close();
    await database?.dispose();
  });

  /** Without order upstream, so any page may hold any record. */
  const unordered = RESOURCES.filter((resource) => DECLARATIONS[resource].order === undefined);
  const isUnordered = (path: string) =>
    unordered.some((resource) => path.split("?")[0] === `/api/v1/${resource}/`);
  const recorded = recordedExchanges().filter(
    ({ method, status, path }) =>
      method === "GET" &&
      status === 200 &&
      path.startsWith("/api/v1/") &&
      !/\/(search|anchor)\/|[?]slug=latest/.test(path),
  );

  it.each(recorded)("answers $path with the recorded records", async ({ path, body }) => {
    const [came, was] = [(await served.json(path)) as Partial<Page>, JSON.parse(body) as Partial<Page>];
    if (!isUnordered(path) || was.objects === undefined) return expect(came).toEqual(was);
    expect(came.meta).toEqual(was.meta);
    const shapes = (page: Partial<Page>) => page.objects?.map((record) => Object.keys(record).sort());
    expect(shapes(came)).toEqual(shapes(was));
  });
});
