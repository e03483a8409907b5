import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { EXIT } from "../../../src/base/errors.ts";
import { findAnchors, findDocs, findFiles } from "../../../src/mirror/content/search-contents.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import { runSync, type SyncOptions, type SyncResult } from "../../../src/mirror/run/run.ts";
import { withContent } from "../../../src/mirror/run/with-content.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { HELD } from "../../support/leases.ts";
import { editPages, type Intercept, type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { startScriptedServer } from "../../support/scripted-server.ts";
import { type Over, summaryOf, withDefaults } from "../../support/sync.ts";

let open: QuickWorld | null = null;
afterEach(async () => {
  await open?.[Symbol.asyncDispose]();
  open = null;
});

const DAY_MS = 86_400_000;

const SIZES = { users: 3, projects: 5, versions: 8, files: 30, builds: 5 };
const startWorld = (intercept?: Intercept, copyOf?: string) =>
  startQuickWorld({ ...SIZES, rates: QUIET, hiddenShare: 0, oddTexts: false }, intercept, copyOf);

let read: QuickWorld;
beforeAll(async () => {
  read = await startWorld();
  await read.sync();
  await read.simulation.close();
});
afterAll(() => read?.database.dispose());

/** A small quiet world and a mirror whose lists are read. `night` fetches pages behind a run that reads nothing more. */
const start = (intercept?: Intercept) => startWith(intercept, read.databaseUrl);

/** A small quiet world and an empty mirror of it; `night` is one sync with content. */
async function startWith(intercept?: Intercept, copyOf?: string) {
  open = await startWorld(intercept, copyOf);
  const { world, simulation, databaseUrl, baseUrl, sql } = open;
  const readNothing = async (): Promise<SyncResult> => {
    const at = world.now().toISOString();
    const [run] = await sql<{ run_id: number }[]>`
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
      values ('full', 'succeeded', ${at}, ${at}, ${at}, 1, 'test') returning id as run_id`;
    return { summary: summaryOf({ ...run }), error: null };
  };
  const clock = { now: () => world.now(), sleep: systemClock.sleep };
  const night = async ({ settings, ...rest }: Over<SyncOptions> = {}) => {
    simulation.resetRequests();
    const ours = { content: true, retries: 0, ...settings };
    const result = await withContent(copyOf === undefined ? runSync : readNothing)({
      ...withDefaults<SyncOptions>(databaseUrl, baseUrl, { clock, ...rest, settings: ours }),
    });
    const { byPath, byStatus } = simulation.requests();
    const paths = [...byPath].filter(([path]) => path.startsWith("/docs/"));
    return { ...result, content: result.summary.content, pages: new Map(paths), byStatus };
  };
  return { ...open, night };
}

type Next = Parameters<Intercept>[1];

/** A service whose pages answer so. */
const pages =
  (reply: (path: string, next: Next) => ReturnType<Intercept>): Intercept =>
  (request, next) => {
    const { pathname } = new URL(request.url);
    return pathname.startsWith("/docs/") ? reply(pathname, next) : next();
  };

/** A service whose robots.txt says so. */
const robots =
  (reply: () => Awaited<ReturnType<Intercept>>, answer: Intercept = (_request, next) => next()): Intercept =>
  (request, next) =>
    new URL(request.url).pathname === "/robots.txt" ? reply() : answer(request, next);

/** Every file that a search for a word finds, page after page. */
async function allIdsOf(sql: Sql, q: string): Promise<string[]> {
  const ids: string[] = [];
  for (let page = 1; ; page++) {
    const { total, hits } = await findFiles(sql, { q, page });
    ids.push(...hits.map(({ fileId }) => fileId));
    if (ids.length >= total || hits.length === 0) return ids;
  }
}

async function firstFile(sql: Sql) {
  const [file = { id: "", url: "", heading: "" }] = await sql<{ id: string; url: string; heading: string }[]>`
    select id, absolute_url as url, replace(name, '.html', '') as heading from mirror.files as file
    where not exists (select from mirror.files as other where other.absolute_url = file.absolute_url and other.id <> file.id)
    order by id limit 1`;
  return file;
}

describe("a sync with content", () => {
  it("fetches the page of each file, so that the searches find what the service's own find", async () => {
    const { sql, world, night } = await startWith();
    const { content, summary, pages } = await night();
    expect(content).toMatchObject({ fetched: 30, unchanged: 0, failed: 0, left: 0, ended: "done" });
    expect(summary.status).toBe("succeeded");
    // One of them is for robots.txt.
    expect(content?.requests).toBe(31);
    expect([...pages.keys()].length).toBeGreaterThan(20);
    const catalog = world.catalog();
    for (const q of ["oak", "reed", "index", "meadow stork", "Py-ModIndex"]) {
      const theirs = (await catalog.searchFiles({ q, page: 1 })).map(({ id, text }) => `${id} ${text}`);
      const ours = (await findFiles(sql, { q })).hits.map(({ fileId, text }) => `${fileId} ${text}`);
      expect({ q, hits: ours.sort() }).toEqual({ q, hits: theirs.sort() });
      const anchors = (await catalog.searchAnchors(q)).map((url) => url.replace("http//", "http://")).sort();
      expect((await findAnchors(sql, { q })).sort()).toEqual(anchors);
    }
    const [version = { project: "", version: "" }] = await sql<{ project: string; version: string }[]>`
      select slug as project, file_contents.version from mirror.file_contents join mirror.projects on projects.id = project_id limit 1`;
    const query = { ...version, q: "index" };
    const theirs = await catalog.searchDocs(query);
    const ours = await findDocs(sql, query);
    const byLink = (one: { link: string }, other: { link: string }) => (one.link < other.link ? -1 : 1);
    expect([...(ours?.hits ?? [])].sort(byLink)).toEqual([...(theirs?.hits ?? [])].sort(byLink));
  });

  it("asks again by the validators, which costs no body and no write of the index", {
    tags: ["long"],
  }, async () => {
    const { night, sql, world } = await start();
    await night();
    const rows = () => sql`
      select file_id, title, text, anchors, fetched_at, content_hash, changed_run_id, search from mirror.file_contents order by file_id`;
    const before = await rows();
    world.advance(DAY_MS);
    const { content, byStatus } = await night();
    expect(content).toMatchObject({ fetched: 0, unchanged: 30, failed: 0, left: 0 });
    // Those of robots.txt alone.
    expect(content?.bytes).toBeLessThan(500);
    expect(byStatus.get(304)).toBe(30);
    expect(await rows()).toEqual(before);
    const [asked] =
      await sql`select distinct asked_run_id, asked_at > fetched_at as later from mirror.file_contents`;
    expect(asked).toEqual({ asked_run_id: 3, later: true });
  });

  it("takes a changed text into the index, and the old one out", { tags: ["long"] }, async () => {
    const { night, sql, world } = await start();
    await night();
    const { id, heading } = await firstFile(sql);
    const textOf = async () =>
      (await sql`select text from mirror.file_contents where file_id = ${id}`)[0]?.text;
    const before = await textOf();
    world.advance(DAY_MS);
    world.editPage(id);
    expect((await night()).content).toMatchObject({ fetched: 1, unchanged: 29 });
    const after: string = await textOf();
    expect(after).not.toBe(before);
    const words = (text: string) => new Set(text.toLowerCase().match(/\p{L}+/gu));
    const gone = [...words(before)].find((word) => !words(after).has(word));
    const come = [...words(after)].find((word) => !words(before).has(word));
    expect(await allIdsOf(sql, gone ?? "")).not.toContain(id);
    expect(await allIdsOf(sql, come ?? "")).toContain(id);
    expect(await allIdsOf(sql, heading)).toContain(id);
  });

  it("takes a page that went away out of the index, and in again", { tags: ["long"] }, async () => {
    const lost = new Set<string>();
    const { night, sql, world } = await start(
      pages((path, next) => (lost.has(path) ? new Response("gone", { status: 404 }) : next())),
    );
    await night();
    const { id, url, heading } = await firstFile(sql);
    lost.add(url);
    world.advance(DAY_MS);
    const second = await night();
    expect(second.content).toMatchObject({ unchanged: 29, failed: 1, ended: "done" });
    expect(exitCodeOfRun(second)).toBe(EXIT.done);
    expect(await allIdsOf(sql, heading)).not.toContain(id);
    const anchors = await findAnchors(sql, { q: heading });
    expect(anchors.filter((address) => address.includes(url.slice(6)))).toEqual([]);
    const [row] =
      await sql`select http_status, reason, title, text, anchors from mirror.file_contents where file_id = ${id}`;
    expect(row).toEqual({ http_status: 404, reason: "answered 404", title: null, text: null, anchors: null });
    lost.clear();
    world.advance(DAY_MS);
    expect((await night()).content).toMatchObject({ fetched: 0, unchanged: 29 });
    world.advance(7 * DAY_MS);
    expect((await night()).content).toMatchObject({ fetched: 1, unchanged: 29 });
    expect(await allIdsOf(sql, heading)).toContain(id);
  });

  it("drops the page of a file that was deleted", { tags: ["long"] }, async () => {
    const { night, sql, world } = await startWith();
    await night();
    const { id, heading } = await firstFile(sql);
    world.deleteRecord("file", id);
    world.advance(DAY_MS);
    await night({ settings: { maxDeleteRatio: 1 } });
    expect(await sql`select from mirror.file_contents where file_id = ${id}`).toHaveLength(0);
    expect(await allIdsOf(sql, heading)).not.toContain(id);
  });

  it("asks once a week where the server gave no validators", { tags: ["long"] }, async () => {
    const { night, world } = await start(async (_request, next) => {
      const reply = await next();
      for (const name of ["etag", "last-modified"]) reply.headers.delete(name);
      return reply;
    });
    expect((await night()).content).toMatchObject({ fetched: 30 });
    world.advance(6 * DAY_MS);
    expect((await night()).content).toMatchObject({ fetched: 0, unchanged: 0, left: 0 });
    world.advance(DAY_MS);
    expect((await night()).content).toMatchObject({ fetched: 30, unchanged: 0 });
  });

  it("keeps the text of a page that fails for a night, and asks for it in the next", {
    tags: ["long"],
  }, async () => {
    let isDown = false;
    const { night, sql, world } = await start((request, next) =>
      isDown && request.url.endsWith("/index.html") ? new Response("oh", { status: 500 }) : next(),
    );
    await night();
    const before = await allIdsOf(sql, "index");
    const hit = await sql`select from mirror.files where absolute_url like '%/index.html'`;
    expect(before.length).toBeGreaterThan(0);
    isDown = true;
    world.advance(DAY_MS);
    const { content, summary } = await night();
    expect(content?.failed).toBe(hit.length);
    expect(summary.status).toBe("succeeded");
    expect(await allIdsOf(sql, "index")).toEqual(before);
    const [row] =
      await sql`select distinct http_status, reason from mirror.file_contents where reason is not null`;
    expect(row).toEqual({ http_status: 500, reason: "answered 500" });
    isDown = false;
    world.advance(DAY_MS);
    expect((await night()).content).toMatchObject({ unchanged: 30, failed: 0 });
  });

  it("records the reason of a page that it cannot use, which costs no success and is not asked again each night", {
    tags: ["long"],
  }, async () => {
    let reply = (_path: string) => html("");
    const { night, sql, world } = await start(pages((path) => reply(path)));
    await sql`delete from mirror.files where id not in (select id from mirror.files order by id limit 2)`;
    const pdf = { headers: { "content-type": "application/pdf" } };
    const cases: [reply: typeof reply, reason: string][] = [
      [() => new Response("%PDF", pdf), "is application/pdf, not HTML"],
      [() => html(" ".repeat(5 * 1024 * 1024 + 1)), "longer than 5242880 bytes"],
      [() => html("x", { "content-length": "5242881" }), "longer than 5242880 bytes"],
      [() => redirect("http://127.0.0.2:1/"), "redirects to http://127.0.0.2:1/, which is not followed"],
      [() => new Response("", { status: 301 }), "which is not followed"],
      [(path) => redirect(`${path}?login`), "answered with more than 3 redirects, which is not followed"],
    ];
    for (const [answer, reason] of cases) {
      reply = answer;
      await sql`delete from mirror.file_contents`;
      const first = await night();
      expect(first.content, reason).toMatchObject({ fetched: 0, failed: 2, left: 0, ended: "done" });
      expect(exitCodeOfRun(first)).toBe(EXIT.done);
      const rows = await sql<{ reason: string }[]>`select distinct reason from mirror.file_contents`;
      expect(rows.filter((row) => !row.reason.includes(reason))).toEqual([]);
      world.advance(DAY_MS);
      expect((await night()).pages.size, reason).toBe(0);
    }
  });

  it("follows a redirect on the host of the pages", { tags: ["long"] }, async () => {
    const { night, sql } = await start(
      pages((path) =>
        path.includes("/moved/")
          ? html("<title>Moved</title>")
          : redirect(path.replace("/docs/", "/docs/moved/")),
      ),
    );
    expect((await night()).content).toMatchObject({ fetched: 30, failed: 0 });
    expect(await allIdsOf(sql, "moved")).toHaveLength(30);
  });

  it("never asks another origin, and says so of each file", async () => {
    await using other = await startScriptedServer([{}]);
    const { night, sql } = await startWith(
      editPages<{ absolute_url: string }>("file", (files) => {
        for (const file of files) file.absolute_url = other.url.origin + file.absolute_url;
      }),
    );
    const { content, pages } = await night();
    expect(content).toMatchObject({ fetched: 0, failed: 30, requests: 0, left: 0 });
    expect(pages.size).toBe(0);
    expect(other.requests).toHaveLength(0);
    const [row] = await sql`select distinct url, http_status, reason from mirror.file_contents`;
    const reason = "its address is not below the base of the pages";
    expect(row).toEqual({ url: null, http_status: null, reason });
  });

  it("asks the host that DOCMIRROR_DOCS_URL names, and its login goes to that host alone", {
    tags: ["long"],
  }, async () => {
    await using docs = await startScriptedServer(() => ({
      body: "<title>From the other host</title>",
      headers: { "content-type": "text/html", etag: '"1"' },
    }));
    const { night, sql, simulation } = await start();
    await night();
    const docsUrl = new URL(`http://me:secret@${docs.url.host}/mirror`);
    const { content, pages } = await night({ settings: { docsUrl } });
    expect(content).toMatchObject({ fetched: 30, left: 0 });
    expect(pages.size).toBe(0);
    const [first, ...others] = docs.requests.map(({ path }) => path);
    expect(first).toBe("/robots.txt");
    expect(others.every((path) => path.startsWith("/mirror/docs/"))).toBe(true);
    // The validators of the first host are none of this one.
    expect(docs.requests.every(({ headers }) => headers["if-none-match"] === undefined)).toBe(true);
    expect(docs.requests[0]?.headers.authorization).toBe(`Basic ${btoa("me:secret")}`);
    expect(await allIdsOf(sql, "other host")).toHaveLength(30);
    const [row] =
      await sql`select distinct docs_url, url like ${`${docs.url.origin}/mirror/docs/%`} as plain from mirror.file_contents`;
    expect(row).toEqual({ docs_url: `${docs.url.origin}/mirror`, plain: true });
    expect(simulation.url).not.toContain("secret");
  });

  it("sends no validators of an old address to the new one, even after the new one failed for a night", {
    tags: ["long"],
  }, async () => {
    let isDown = true;
    await using docs = await startScriptedServer(({ path }) =>
      isDown && path !== "/robots.txt"
        ? { status: 500 }
        : { body: "<title>New house</title>", headers: { "content-type": "text/html", etag: '"1"' } },
    );
    const { night, sql, world } = await start();
    await night();
    const settings = { docsUrl: docs.url };
    expect((await night({ settings })).content).toMatchObject({ failed: 30 });
    isDown = false;
    world.advance(DAY_MS);
    expect((await night({ settings })).content).toMatchObject({ fetched: 30, left: 0 });
    expect(docs.requests.every(({ headers }) => headers["if-none-match"] === undefined)).toBe(true);
    expect(docs.requests.every(({ headers }) => headers["if-modified-since"] === undefined)).toBe(true);
    expect(await allIdsOf(sql, "new house")).toHaveLength(30);
  });

  it("passes on, night after night, where one page asks for a wait that is too long", {
    tags: ["long"],
  }, async () => {
    let away = "";
    const busy = { status: 503, headers: { "retry-after": "86400" } };
    const { night, sql, world } = await start(
      pages((path, next) => {
        away ||= path;
        return path === away ? new Response("", busy) : next();
      }),
    );
    const first = await night({ settings: { concurrency: 1 } });
    expect(first.content).toMatchObject({ fetched: 0, ended: "lost" });
    expect(first.summary.status).toBe("succeeded");
    const [row] = await sql`select http_status, reason from mirror.file_contents`;
    expect(row).toEqual({ http_status: 503, reason: "answered 503" });
    world.advance(2 * DAY_MS);
    const second = await night({ settings: { concurrency: 1 } });
    expect(second.content?.fetched).toBeGreaterThan(20);
  });

  it("leaves out what robots.txt refuses, keeps what it had of it, and asks again once it may", {
    tags: ["long"],
  }, async () => {
    let rules = "";
    const { night, sql, world } = await start(robots(() => new Response(rules)));
    await night();
    const { id, url, heading } = await firstFile(sql);
    rules = `User-agent: *\nDisallow: ${url}`;
    world.advance(DAY_MS);
    const { content, pages, summary } = await night();
    expect(content).toMatchObject({ unchanged: 29, left_out: 1, failed: 0, left: 0, ended: "done" });
    expect(summary.status).toBe("succeeded");
    expect(pages.has(url)).toBe(false);
    const [row] = await sql`select http_status, reason from mirror.file_contents where file_id = ${id}`;
    expect(row).toEqual({ http_status: null, reason: expect.stringContaining(`Disallow: ${url}`) });
    expect(await allIdsOf(sql, heading)).toContain(id);
    rules = "";
    expect((await night()).content).toMatchObject({ unchanged: 30, left_out: 0 });
  });

  it("follows no redirect to a page that robots.txt refuses", { tags: ["long"] }, async () => {
    const asked: string[] = [];
    const away = pages((path, next) => {
      asked.push(path);
      return path.endsWith("/index.html") ? redirect("/docs/private/a.html") : next();
    });
    const { night } = await start(
      robots(() => new Response("User-agent: docmirror\nDisallow: /docs/private/"), away),
    );
    expect((await night()).content?.failed).toBeGreaterThan(0);
    expect(asked).not.toContain("/docs/private/a.html");
  });

  it("waits between two pages as robots.txt asks, and stops when the time is up", async () => {
    const at: number[] = [];
    const delayed = robots(
      () => new Response("User-agent: *\nCrawl-delay: 20"),
      pages((_path, next) => {
        at.push(nowMs);
        return next();
      }),
    );
    const { night, world } = await start(delayed);
    let nowMs = world.now().getTime();
    const clock = {
      now: () => new Date(nowMs),
      async sleep(ms: number) {
        nowMs += ms;
      },
    };
    const { content } = await night({ clock, settings: { contentBudgetMs: 100_000, concurrency: 4 } });
    expect(content).toMatchObject({ fetched: 5, left: 25, ended: "budget" });
    expect(at.map((ms) => ms - (at[0] ?? 0))).toEqual([0, 20_000, 40_000, 60_000, 80_000]);
  });

  it("asks as robots.txt allows by being gone, forbidden, elsewhere or out of reach", {
    tags: ["long"],
  }, async () => {
    let reply: () => Awaited<ReturnType<Intercept>> = () => "hang up";
    const { night, sql } = await start(robots(() => reply()));
    const cases: [reply: typeof reply, fetched: number][] = [
      [() => new Response("", { status: 404 }), 30],
      [() => new Response("", { status: 403 }), 30],
      [() => redirect("http://127.0.0.2:1/robots.txt"), 30],
      [() => new Response("", { status: 500 }), 0],
      [() => "hang up", 0],
    ];
    for (const [index, [answer, fetched]] of cases.entries()) {
      reply = answer;
      await sql`delete from mirror.file_contents`;
      const { content, pages } = await night();
      const ended = fetched === 0 ? "lost" : "done";
      expect(content, `${index}`).toMatchObject({ fetched, failed: 0, left: 30 - fetched, ended });
      expect(pages.size > 0).toBe(fetched > 0);
      if (fetched === 0) expect(content?.warnings?.join()).toContain("robots.txt");
    }
  });

  it("stops when the host of the pages does not answer, and fails nothing", { tags: ["long"] }, async () => {
    const { night, sql } = await start();
    const docsUrl = new URL("http://127.0.0.1:9");
    const lost = await night({ settings: { docsUrl } });
    expect(lost.content).toMatchObject({ fetched: 0, left: expect.any(Number), ended: "lost" });
    expect(lost.content?.requests).toBeLessThan(15);
    expect(lost.summary.status).toBe("succeeded");
    expect(exitCodeOfRun(lost)).toBe(EXIT.done);
    expect((await night()).content).toMatchObject({ fetched: 30, left: 0 });
    expect(await sql`select from mirror.file_contents where reason is not null`).toHaveLength(0);
  });

  it("goes on past pages that never answer while the host does", { tags: ["long"] }, async () => {
    const { night } = await start((request, next) =>
      request.url.endsWith("/index.html") || request.url.endsWith("/search.html") ? "hang up" : next(),
    );
    const { content } = await night();
    expect(content?.failed).toBeGreaterThan(5);
    expect(content).toMatchObject({ fetched: 30 - (content?.failed ?? 0), left: 0, ended: "done" });
  });

  it("goes on past them also where the root comes from a cache in front of the host", {
    tags: ["long"],
  }, async () => {
    const broken = new Set<string>();
    const answer = pages((path, next) => {
      if (broken.size < 8) broken.add(path);
      return broken.has(path) ? new Response("", { status: 502 }) : next();
    });
    const { night } = await start((request, next) =>
      new URL(request.url).pathname === "/"
        ? new Response("hello", { headers: { age: "30" } })
        : answer(request, next),
    );
    const { content } = await night();
    expect(content?.failed).toBeGreaterThanOrEqual(8);
    expect(content).toMatchObject({ fetched: 30 - (content?.failed ?? 0), left: 0, ended: "done" });
  });

  it("leaves the lists whole when there is no time for pages, and continues the next night where it ended", {
    tags: ["long"],
  }, async () => {
    const { night, sql, world } = await startWith();
    const none = await night({ settings: { contentBudgetMs: 0 } });
    expect(none.content).toMatchObject({ fetched: 0, left: 30, ended: "budget" });
    const resources = { file: { walk: "whole", records: 30 } };
    expect(none.summary).toMatchObject({ status: "succeeded", resources });
    expect(none.pages.size).toBe(0);
    // The clock moves by a millisecond with each look at it.
    let nowMs = world.now().getTime();
    const clock = { now: () => new Date(++nowMs), sleep: systemClock.sleep };
    const half = await night({ clock, settings: { contentBudgetMs: 60 } });
    expect(half.content?.ended).toBe("budget");
    const { fetched = 0, left } = half.content ?? {};
    expect(fetched).toBeGreaterThan(0);
    expect(left).toBe(30 - fetched);
    const rest = await night({ clock });
    expect(rest.content).toMatchObject({ fetched: 30 - fetched, unchanged: fetched, left: 0 });
    expect(await sql`select from mirror.file_contents where search is null`).toHaveLength(0);
  });

  it("ends soon after a stop, and the run before it stays as it was", { tags: ["long"] }, async () => {
    const stop = new AbortController();
    let asked = 0;
    const { night, sql } = await start(
      pages(async (_path, next) => {
        if (++asked <= 25) return next();
        stop.abort(new Error("stop"));
        return new Promise(() => {});
      }),
    );
    const { content, summary } = await night({ signal: stop.signal });
    expect(content).toMatchObject({ fetched: 20, left: null, ended: "stopped" });
    expect(summary.status).toBe("succeeded");
    expect(await sql`select from mirror.file_contents`).toHaveLength(20);
    const [run] = await sql`select status from sync.runs where id = ${summary.run_id}`;
    expect(run?.status).toBe("succeeded");
  });

  it("gives way when the next sync is due, and that one continues", { tags: ["long"] }, async () => {
    const due = new AbortController();
    let asked = 0;
    const { night, sql } = await start(
      pages((_path, next) => {
        if (++asked === 26) due.abort(new Error("due"));
        return next();
      }),
    );
    const first = await night({ giveWay: () => due.signal });
    expect(first.content).toMatchObject({ fetched: 20, left: null, ended: "stopped" });
    expect(exitCodeOfRun(first)).toBe(EXIT.done);
    expect((await night()).content).toMatchObject({ fetched: 10, unchanged: 20, left: 0 });
    expect(await sql`select from mirror.file_contents where search is null`).toHaveLength(0);
  });

  it("leaves the pages to another process that is fetching them", { tags: ["long"] }, async () => {
    const { night, sql } = await start();
    await sql.unsafe(HELD("content"));
    expect((await night()).content).toMatchObject({ fetched: 0, left: null, ended: "busy" });
    await sql`update sync.leases set until = '-infinity'`;
    expect((await night()).content).toMatchObject({ fetched: 30, ended: "done" });
  });

  it("keeps its lease on a server that ends idle sessions", { tags: ["long"] }, async () => {
    let asked = 0;
    const held: number[] = [];
    const { night, databaseUrl, sql } = await start(
      pages(async (_path, next) => {
        if (++asked > 1) return next();
        await systemClock.sleep(900);
        const rows =
          await sql`select from sync.leases as lease where name = 'content' and sync.is_held(lease)`;
        held.push(rows.length);
        return next();
      }),
    );
    await night({ settings: { content: false } });
    const name = new URL(databaseUrl).pathname.slice(1);
    await sql.unsafe(`alter database "${name}" set idle_session_timeout = '300ms'`);
    expect((await night({ resources: ["user"] })).content).toMatchObject({ fetched: 30, ended: "done" });
    expect(held).toEqual([1]);
  });

  it("fetches none after a sync that failed", async () => {
    const { night } = await startWith((request, next) =>
      new URL(request.url).pathname === "/api/v1/" ? new Response("no", { status: 400 }) : next(),
    );
    const { content, pages } = await night();
    expect(content).toBeUndefined();
    expect(pages.size).toBe(0);
  });

  it("asks for no pages of a deleted project", { tags: ["long"] }, async () => {
    const { night, sql } = await start();
    await night({ settings: { content: false } });
    await sql`update mirror.projects set deleted_at = now() where id = (select project_id from mirror.files limit 1)`;
    const shown = await sql`
      select from mirror.files join mirror.projects on projects.id = project_id where projects.deleted_at is null`;
    const { content } = await night({ resources: ["user"] });
    expect(content?.fetched).toBe(shown.length);
  });
});

function html(body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { headers: { "content-type": "text/html", ...headers } });
}

function redirect(location: string): Response {
  return new Response("", { status: 302, headers: { location } });
}
