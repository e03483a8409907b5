import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { REFERENCE_FIELDS, RESOURCES } from "../../../src/resources/resources.ts";
import { createMirrorCatalog } from "../../../src/serve/catalog/mirror-catalog.ts";
import type { Catalog } from "../../../src/serve/protocol/catalog.ts";
import { createProtocol, MIRROR } from "../../../src/serve/protocol/protocol.ts";
import type { AnySql, MirrorReader, Sql } from "../../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase, withTestSql } from "../../support/database.ts";
import { startQuickWorld } from "../../support/quick-world.ts";
import { openServedMirror, serveInterface } from "../../support/served-pages.ts";
import {
  createWorld,
  type Simulation,
  type SimulationOptions,
  startSimulation,
  type World,
} from "../../support/simulation.ts";
import { syncOnce } from "../../support/sync.ts";
import { serveWorld } from "../http/simulated-app.ts";

let database: TestDatabase;
let world: World;
let service: Simulation;
let mirror: Awaited<ReturnType<typeof openServedMirror>>;
let catalog: Catalog;
let sql: Sql;

beforeAll(async () => {
  database = await createTestDatabase();
  world = createWorld({ seed: 7, builds: 90, projects: 25, versions: 40, files: 30, users: 25 });
  service = await startSimulation({ world });
  await syncOnce(database.url, new URL(service.url));
  mirror = await openServedMirror(database.url);
  catalog = createMirrorCatalog(mirror);
  sql = database.sql;
});

afterAll(async () => {
  await mirror.close();
  await service.close();
  await database.dispose();
});

const served = () => createProtocol({ catalog, manners: MIRROR });

type Page = { meta: { next: string | null }; objects: { id: string }[] };

async function idsInPages(app: ReturnType<typeof served>, path: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let next: string | null = `${path}?limit=${limit}`;
  while (next) {
    const page = (await (await app.request(next)).json()) as Page;
    ids.push(...page.objects.map(({ id }) => id));
    next = page.meta.next;
  }
  return ids;
}

describe("the mirror's lists", () => {
  it.each(RESOURCES)("have every live %s once, whatever the size of a page", async (resource) => {
    const whole = await idsInPages(served(), `/api/v1/${resource}/`, 1000);
    const live = await sql<{ id: string }[]>`
      select id from mirror.${sql(`${resource}s`)} where deleted_at is null
      ${resource === "project" ? sql`and listed` : sql``}`;
    expect([...whole].sort()).toEqual(live.map(({ id }) => id).sort());
    for (const limit of [7, 20])
      expect(await idsInPages(served(), `/api/v1/${resource}/`, limit)).toEqual(whole);
  });

  it.each(RESOURCES)("give the same %s records wherever a page starts", async (resource) => {
    const all = await catalog.list(resource, { filters: [], offset: 0, limit: 1000 });
    for (const offset of [0, 1, 5, Math.floor(all.totalCount / 2), all.totalCount - 3, all.totalCount]) {
      // A catalog of its own remembers no place, so a deep page is read from the end.
      const fresh = await createMirrorCatalog(mirror).list(resource, { filters: [], offset, limit: 4 });
      expect(fresh.records).toEqual(all.records.slice(offset, offset + 4));
      expect(fresh.totalCount).toBe(all.totalCount);
    }
  });

  it("are in upstream's order: projects by slug, versions by name downwards, builds newest first", async () => {
    const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
    for (const [resource, key] of [
      ["project", "slug"],
      ["version", "verbose_name"],
      ["build", "date"],
    ] as const) {
      const { records } = await catalog.list(resource, { filters: [], offset: 0, limit: 1000 });
      const keys = (records as unknown as Record<string, string>[]).map((record) => record[key] ?? "");
      const sorted = keys.toSorted(bytes);
      expect(keys).toEqual(resource === "project" ? sorted : sorted.reverse());
    }
  });
});

describe("a filter by a reference", () => {
  it("finds the record that names its project by the slug", async () => {
    const [named] = await sql<{ id: string; slug: string }[]>`
      update mirror.builds as build set project_uri = '/api/v1/project/' || slug || '/'
      from mirror.projects as project
      where project.id = project_id and build.id = (select max(id) from mirror.builds where project_id is not null)
      returning build.id, slug`;
    const reply = await served().request(`/api/v1/build/?project=/api/v1/project/${named?.slug}/`);
    expect(await reply.json()).toMatchObject({ meta: { total_count: 1 }, objects: [{ id: named?.id }] });
  });
});

const change = (by: AnySql) =>
  by`update mirror.users set username = username where id = (select min(id) from mirror.users)`;

describe("the moment of the data", () => {
  it("is when the records of a list, or those that it shows, last changed", async () => {
    const momentsOf = () => Promise.all(RESOURCES.map((resource) => catalog.lastModified?.(resource)));
    const before = await momentsOf();
    const [{ now } = { now: new Date(0) }] = await sql<{ now: Date }[]>`select now() as now`;
    for (const moment of before) {
      expect(moment).toBeInstanceOf(Date);
      expect(moment?.getTime()).toBeLessThanOrEqual(new Date(now).getTime());
    }
    await sql`update mirror.projects set name = name where id = (select min(id) from mirror.projects)`;
    const after = await momentsOf();
    const isLater = RESOURCES.filter((_, at) => (after[at] ?? 0) > (before[at] ?? 0));
    const showing = REFERENCE_FIELDS.filter(({ target }) => target === "project").map((one) => one.resource);
    expect(isLater).toEqual(RESOURCES.filter((one) => one === "project" || showing.includes(one)));
  });

  it("is when a change was made, though its transaction began before another change", async () => {
    const moment = async () => (await catalog.lastModified?.("user"))?.getTime() ?? 0;
    let between = 0;
    await sql.begin(async (tx) => {
      await tx`select`;
      await withTestSql(database.url, change);
      between = await moment();
      await tx`select pg_sleep(0.01)`;
      await change(tx);
    });
    expect(await moment()).toBeGreaterThan(between);
  });

  it("grows by a second and more where the clock was put back, so that no client takes old data for new", async () => {
    await using app = await serveWorld(catalog);
    const [project] = await sql<{ id: string }[]>`select min(id) as id from mirror.projects where listed`;
    const rename = () =>
      sql`update mirror.projects set name = name || ' renamed' where id = ${project?.id ?? ""}`;
    const pass = (time: string) => sql`update sync.revisions set changed_at = changed_at - ${time}::interval`;
    const ask = async (since = "") => {
      const { status, headers } = await app.get("/api/v1/project/", { "if-modified-since": since });
      return { status, moment: headers.get("last-modified") ?? "" };
    };
    for (const resource of ["project", "user"]) {
      await pass("1 day");
      // The last change before the clock was put back, when another hour had passed.
      await sql`update sync.revisions set changed_at = now() + interval '1 hour' where resource = ${resource}`;
      expect(await ask(), "not known before the clock comes by again").toEqual({ status: 200, moment: "" });
      const had = await catalog.lastModified?.("project");
      await rename();
      await rename();
      await pass("2 hours");
      const after = await ask();
      expect(Date.parse(after.moment)).toBeGreaterThanOrEqual((had?.getTime() ?? 0) - 7_200_000 + 1000);
      const known = new Date((had?.getTime() ?? 0) - 7_200_000).toUTCString();
      expect(await ask(known)).toEqual({ status: 200, moment: after.moment });
      expect((await ask(after.moment)).status).toBe(304);
    }
  });

  it("is not known while the mirror is empty", async () => {
    await using empty = await createTestDatabase();
    await using nothing = await openServedMirror(empty.url);
    expect(await createMirrorCatalog(nothing).lastModified?.("build")).toBeUndefined();
  });
});

describe("the revision of a list", () => {
  it("is another one where a restored database counts to the same number again", async () => {
    await change(sql);
    const before = await catalog.revision?.("user");
    await sql`update sync.revisions set revision = revision - 1 where resource = 'user'`;
    await change(sql);
    expect(await catalog.revision?.("user")).not.toBe(before);
  });
});

describe("a list that was never read to its end", () => {
  it("is not taken for one that was because its walk ends while a record is looked for", async () => {
    await using quick = await startQuickWorld({ users: 3, projects: 4, versions: 5, files: 3, builds: 8 });
    await using other = await createTestDatabase();
    await using before = await openServedMirror(other.url);
    await using after = await openServedMirror(quick.databaseUrl);
    await quick.sync();
    let current = before;
    const moving: MirrorReader = {
      read: (fn) => current.read(fn).finally(() => (current = after)),
      snapshot: (fn) => current.snapshot(fn).finally(() => (current = after)),
    };
    for (const resource of ["build", "project"] as const) {
      current = before;
      const id = (await createMirrorCatalog(after).list(resource, { filters: [], offset: 0, limit: 1 }))
        .records[0]?.id;
      const found = createMirrorCatalog(moving).find(resource, String(id));
      // It may be found or refused, but it is not gone.
      expect(await found.catch((error: Error) => error), resource).toBeDefined();
    }
  });

  it("is not answered, and neither is a record that is not there yet", async () => {
    await using empty = await createTestDatabase();
    await using app = await serveInterface(empty.url);
    for (const path of ["/api/v1/build/", "/api/v1/project/pip/", "/api/v1/build/5/"]) {
      const reply = await app.get(path);
      expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "60"]);
      expect(await reply.json()).toEqual({
        error: expect.stringMatching(/^The (build|project) list has not been read to its end yet[.] Try/),
      });
    }
    expect((await app.get("/api/v1/")).status).toBe(200);
  });

  it("is not searched before a page was fetched, in any of the searches", async () => {
    await using app = await serveInterface(database.url);
    const searches = ["v1/file/search/?q=pip", "v1/file/anchor/?q=pip", "v2/docsearch/?project=none&q=pip"];
    const statuses = () => Promise.all(searches.map(async (path) => (await app.get(`/api/${path}`)).status));
    expect(await statuses()).toEqual([503, 503, 503]);
    const refusal = await app.get("/api/v1/file/search/?q=pip");
    expect([refusal.headers.get("retry-after"), await refusal.text()]).toEqual([
      "60",
      expect.stringContaining("DOCMIRROR_CONTENT"),
    ]);
    await sql`
      insert into mirror.file_contents (file_id, docs_url, asked_at, asked_run_id, changed_run_id, reason)
      select min(id), '', now(), 1, 1, 'answered 404' from mirror.files`;
    expect(await statuses()).toEqual([503, 503, 503]);
    await sql`update mirror.file_contents set fetched_at = now(), reason = null`;
    expect(await statuses()).toEqual([200, 200, 404]);
    await sql`delete from mirror.file_contents`;
    expect(await statuses(), "what was ready stays ready").toEqual([200, 200, 404]);
  });

  it("is answered from the walk on that came to its end, though it broke off before", {
    tags: ["long"],
  }, async () => {
    let pages = 0;
    const breaksOff: SimulationOptions["intercept"] = (request, next) =>
      request.url.includes("/build/?") && ++pages === 3 ? new Response("", { status: 403 }) : next();
    await using quick = await startQuickWorld({ projects: 5, versions: 8, builds: 60 }, breaksOff);
    await quick.sync({ resources: ["build"] });
    await using app = await serveInterface(quick.databaseUrl);
    expect((await app.get("/api/v1/build/")).status).toBe(503);
    expect((await app.get("/api/v1/user/")).status).toBe(503);
    await quick.sync({ resources: ["build"] });
    expect((await app.get("/api/v1/build/")).status).toBe(200);
  });

  it("does not call a record absent that waits in quarantine", async () => {
    await using app = await serveInterface(database.url);
    await sql`
      insert into sync.quarantine (run_id, resource, record_id, reason, payload, created_at)
      select max(id), 'user', '987654', 'test', '{}', now() from sync.runs`;
    expect((await app.get("/api/v1/user/987654/")).status).toBe(503);
    expect((await app.get("/api/v1/user/987653/")).status).toBe(404);
    await sql`update sync.quarantine set resolved_at = now() where record_id = '987654'`;
    expect((await app.get("/api/v1/user/987654/")).status).toBe(404);
  });

  it("is answered without the records that the service can never render", { tags: ["long"] }, async () => {
    const poison: SimulationOptions["intercept"] = (request, next) => {
      const { pathname, searchParams } = new URL(request.url);
      const [offset, limit] = [Number(searchParams.get("offset") ?? 0), Number(searchParams.get("limit"))];
      const holds = pathname === "/api/v1/user/" && offset <= 7 && 7 < offset + limit;
      return holds ? new Response("", { status: 500 }) : next();
    };
    await using quick = await startQuickWorld({}, poison);
    const { summary } = await quick.sync({ resources: ["user"], settings: { pageSize: 10 } });
    expect(summary.resources.user).toMatchObject({ walk: "not_whole" });
    await using app = await serveInterface(quick.databaseUrl);
    const { meta } = (await app.json("/api/v1/user/")) as { meta: { total_count: number } };
    expect(meta.total_count).toBe(59);
  });
});
