import { describe, expect, it } from "vitest";
import { buildHref, projectHref } from "../../src/page/parts/links.ts";
import { openMirrorPages, usePages } from "../support/mirror-pages.ts";
import { blockOf, expectHarmless, headingOf, rowsOf, textOf } from "../support/page-text.ts";
import { HOSTILE_SLUGS, refreshPages, seedPages, servePages } from "../support/served-pages.ts";
import { later } from "../support/tally.ts";

const pages = usePages(seedPages);
const SERVED = "application_name = 'docmirror serve' and datname = current_database()";

describe("every page", () => {
  const PAGES = ["/", "/trends", "/projects", "/errors", "/mirror"];
  it.each(
    PAGES,
  )("%s has one heading of the first level, its place in the navigation, and the age of the data", async (path) => {
    const page = await pages.page(path);
    expect(page.match(/<h1/g)).toHaveLength(1);
    expect(page.match(/aria-current="page"/g)).toHaveLength(1);
    expect(page).toContain(`<a href="${path}" aria-current="page">`);
    expect(textOf(page)).toMatch(/As of \d+ \w+ \d\d:\d\d UTC (?:\d+|< 1) min ago/);
    expectHarmless(page, path);
  });

  it.each([
    "/",
    "/trends",
    "/errors",
    "/mirror",
    "/project/pip",
    "/build/1001",
    "/dictionary",
  ])("%s has its verdict as the words that a chat shows beside a link to it, without ages", async (path) => {
    const page = await pages.page(path);
    const said = textOf(/<meta name="description" content="([^"]*)">/.exec(page)?.[1] ?? "");
    const age = /(?:<\s)?\d* (?:min|h|d) ago/;
    expect(said).not.toMatch(age);
    expect(said).toContain(headingOf(page).split(age)[0]);
  });

  /** Beside the hostile names of the mirror, what a reader may send. */
  const SENT = encodeURIComponent(`"><script>x</script>\u202e\0`);
  it.each([
    `/?why=${encodeURIComponent('"><script>x')}&show=x&page=-1`,
    `/trends?type=${encodeURIComponent("<b>html</b>")}`,
    `/trends?type=${SENT}`,
    "/projects?sort=name",
    `/projects?q=${SENT}&state=${SENT}&sort=${SENT}&page=-1`,
    "/errors?kind=unclassified",
    `/errors?kind=${SENT}&sort=x&page=-1`,
    `/project/pip?version=${SENT}&type=${SENT}&ref=${SENT}&id=${SENT}&page=-1&versions=${SENT}`,
  ])("%s says nothing that a browser would obey", async (path) => {
    expectHarmless(await pages.page(path), path);
  });

  it("is kept while the minute and the data stay the same, and made anew after a run", async () => {
    const first = await pages.get("/trends");
    const etag = first.headers.get("etag") ?? "";
    const again = await pages.get("/trends", { headers: { "if-none-match": etag } });
    // The minute may have ended between the two.
    if (again.headers.get("etag") === etag) expect([again.status, await again.text()]).toEqual([304, ""]);
    const failed = `insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
      values ('incremental', 'failed', now(), now(), now(), 1, 'test')`;
    await pages.sql.unsafe(failed);
    await refreshPages(pages.databaseUrl);
    const mirror = await pages.page("/mirror");
    const ends = rowsOf(mirror, "runs").map(([run, end = ""]) => [
      run?.split(",")[0],
      end.slice(end.length / 2),
    ]);
    const told = ends.map((cells) => cells.join(" "));
    expect(told).toEqual(["Sync failed", "Watch succeeded", "Sync succeeded", "Sync failed"]);
    await pages.sql`delete from sync.runs where id > 3`;
    await refreshPages(pages.databaseUrl);
  });

  it("leads on by paths of its own, and to addresses of the service, which do not learn from where", async () => {
    for (const path of ["/", "/projects", "/project/pip", "/build/1004", "/mirror"]) {
      const page = await pages.page(path);
      const own = page.replaceAll(/<a href="https?:[^"]*" rel="noreferrer nofollow">/g, "");
      const links = [...own.matchAll(/\s(?:href|src|action)="([^"]*)"/g)].map(([, link = ""]) => link);
      expect(links.length, path).toBeGreaterThan(10);
      for (const link of links) expect(link, path).toMatch(/^(?:[/#]|data:image\/svg\+xml,)/);
    }
  });
});

describe("the page of a project", () => {
  it("opens for every slug, however hostile, and says nothing that a browser would obey", async () => {
    // The reports call a project by its id where its slug is empty.
    const slugs = Object.values(HOSTILE_SLUGS).filter((slug) => slug !== "");
    for (const slug of slugs) {
      const page = await pages.page(projectHref(slug));
      expect(blockOf(page, "failing").split('<span class="when">'), slug).toHaveLength(2);
      expectHarmless(page, slug);
    }
    const projects = await pages.page("/projects");
    for (const slug of slugs) {
      const href = projectHref(slug).replaceAll("&", "&amp;").replaceAll("'", "&#39;");
      expect(projects).toContain(`href="${href}"`);
    }
  });

  it("is a 404 with the nearest slugs for one that is not there", async () => {
    const reply = await pages.get("/project/pipp");
    expect(reply.status).toBe(404);
    expect(await reply.text()).toContain('<a href="/project/pip">');
    expect((await pages.get("/project/a%00b")).status).toBe(400);
  });
});

describe("the search", () => {
  it("leads to a project or a build; what is neither gets a 404 with what is near", async () => {
    const find = async (q: string) =>
      (await pages.get(`/find?q=${encodeURIComponent(q)}`)).headers.get("location");
    expect(await find(" 1004 ")).toBe("/build/1004");
    expect(await find("pip")).toBe("/project/pip");
    expect(await find("..")).toBe("/project?slug=..");
    expect(await find("")).toBe("/");
    expect(await find("nosuch")).toBe("/project/nosuch");
    for (const id of ["nosuch", "", "x".repeat(300), "a\0b"]) {
      expect((await pages.get(buildHref(id))).status).toBe(404);
    }
  });
});

describe("the log of a build", () => {
  it("is plain text, each part below its name, however long it is", async () => {
    const long = "x".repeat(2_500_000);
    await pages.sql`update mirror.build_logs set output = ${long} where build_id = '1004'`;
    const reply = await pages.get("/build/1004/log.txt");
    expect(reply.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await reply.text()).toBe(
      `== output ==\n${long}\n== error ==\nfatal: unable to access the repository\n`,
    );
    expect((await pages.get("/build/1001/log.txt")).status).toBe(404);
    expect((await pages.get("/build/nosuch/log.txt")).status).toBe(404);
  });
});

describe("an answer as CSV", () => {
  it("is read slowly by three at most, and costs nothing when they left", { tags: ["long"] }, async () => {
    const isRead = () =>
      pages.sql.unsafe(`select from pg_stat_activity where ${SERVED} and xact_start is not null`);
    // 40 MB, which no buffer between the two takes whole.
    await pages.sql`
        insert into rollup.builds (build_id, project_id, version_id, type, outcome, is_settled, is_time_ambiguous, first_seen_at, record_hash)
        select 'wide' || n, dim.project_id, '-1', 'wide', 'vanished', true, false, now(), ''
        from report.dim_projects as dim cross join generate_series(1, 2500) as n where length(dim.project_slug) = 8000`;
    const stop = new AbortController();
    // Compressed, equal rows would fit into the buffers.
    const headers = { "accept-encoding": "identity" };
    const read = () => pages.get("/report/fact_builds.csv", { signal: stop.signal, headers });
    const slow = await Promise.all([read(), read(), read()]);
    expect(slow.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await isRead()).toHaveLength(3);
    expect((await read()).status).toBe(503);
    stop.abort();
    await expect.poll(isRead).toHaveLength(0);
    await pages.sql`delete from rollup.builds where type = 'wide'`;
    expect((await pages.get("/report/fact_builds.csv")).status).toBe(200);
  });
});

describe("every reply", () => {
  it("forbids whatever is not ours, and says that it is no other type", async () => {
    const page = await pages.page("/");
    const style = /<link rel="stylesheet" href="([^"]+)"/.exec(page)?.[1] ?? "";
    expect(style).toMatch(/^\/assets\/page\.[0-9a-f]{12}\.css$/);
    const policy =
      "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
    const absent = ["/nosuch", "/project/nosuch", "/report/no.csv"];
    for (const path of ["/", style, "/report/runs.csv", "/find?q=", ...absent]) {
      const { headers } = await pages.get(path);
      expect(headers.get("content-security-policy"), path).toBe(policy);
      expect(headers.get("x-content-type-options"), path).toBe("nosniff");
      expect(headers.get("referrer-policy"), path).toBe("no-referrer");
    }
    expect((await pages.get(style)).headers.get("cache-control")).toContain("immutable");
  });

  it("is to a GET or HEAD; other methods and unknown paths get a page that says so", async () => {
    const [post, head, absent] = await Promise.all([
      pages.get("/", { method: "POST", body: "x=1" }),
      pages.get("/", { method: "HEAD" }),
      pages.get("/nosuch/path"),
    ]);
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await post.text()).toContain("<h1");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(absent.status).toBe(404);
    expect(await absent.text()).toContain("There is no page at this address");
    expect((await pages.get("/report/fact_builds.csv", { method: "HEAD" })).status).toBe(200);
  });
});

describe("without data or database", () => {
  it.each([
    [
      "old data are called so",
      "update sync.walks set started_at = started_at - interval '31 hours', finished_at = finished_at - interval '31 hours'",
      /Not current: what follows is as of \d+ \w+ \d\d:\d\d, 31 h ago\./,
    ],
    [
      "data dated by a clock that stood ahead are called old too",
      "update sync.walks set started_at = started_at + interval '10 years'",
      /Not current: a wrong clock hides when the builds were last read\./,
    ],
    [
      "a list that was never read to its end is named",
      "delete from sync.walks where resource = 'user'",
      /The mirror is not whole yet: no sync has read the list of users to the end\./,
    ],
  ])("%s", async (_case, change, words) => {
    await using served = await openMirrorPages(seedPages);
    await served.sql.unsafe(change);
    expect(textOf(await served.page("/")).replaceAll("\u00a0", " ")).toMatch(words);
  });

  it("a database that is away gives 503, and the page comes back by itself", async () => {
    const there = later<string>();
    await using served = await servePages(pages.databaseUrl, () => there.promise);
    const away = await served.get("/");
    expect([away.status, away.headers.get("retry-after")]).toEqual([503, "10"]);
    const awayPage = await away.text();
    expect(awayPage).toContain("The database does not answer, so nothing can be said about the builds now.");
    expect(awayPage).toContain("<title>! Database away · docmirror</title>");
    expect(textOf(awayPage)).toContain("docmirror doctor");
    there.resolve(pages.databaseUrl);
    await expect.poll(async () => (await served.get("/")).status).toBe(200);
    await pages.sql.unsafe(`select pg_terminate_backend(pid) from pg_stat_activity where ${SERVED}`);
    await expect.poll(async () => (await served.get("/trends")).status).toBe(200);
  });
});
