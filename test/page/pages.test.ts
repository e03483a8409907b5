import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSql } from "../../src/db/connect.ts";
import { buildHref, projectHref } from "../../src/page/links.ts";
import { toCsv } from "../../src/report/csv.ts";
import { askFor, type Filters } from "../../src/report/question.ts";
import { type AnswerRow, readAnswer, withSnapshot } from "../../src/report/read-answer.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import {
  HOSTILE_SLUGS,
  refreshPages,
  type ServedPages,
  seedPages,
  servePages,
} from "../support/served-pages.ts";

let database: TestDatabase;
let pages: ServedPages;

beforeAll(async () => {
  database = await createTestDatabase();
  await seedPages(database.url);
  pages = await servePages(database.url);
});
afterAll(async () => {
  await pages?.[Symbol.asyncDispose]();
  await database?.dispose();
});

/** What stands between a block's heading and the next one. */
const blockOf = (page: string, id: string) =>
  page.split(`<section class="block" id="${id}"`)[1]?.split("</section>")[0] ?? "";

/** The cells of a block's table, row by row, as a reader sees them. */
function rowsOf(page: string, id: string): string[][] {
  const body = blockOf(page, id).split("<tbody>")[1]?.split("</tbody>")[0] ?? "";
  return [...body.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = ""]) => textOf(cell)),
  );
}

const textOf = (html: string) =>
  html
    .replace(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replaceAll("\u00a0", " ");

/** No markup, attribute or control character that the names brought in; no style and no script of our own either. */
function expectHarmless(page: string, name: string): void {
  expect(page, name).not.toMatch(/<script|<img|<b>|\u202e/i);
  expect(page, name).not.toContain("\u001b");
  const tags = page.match(/<[a-z][^>]*>/gi) ?? [];
  const names = tags.flatMap((tag) =>
    [...tag.replace(/"[^"]*"/g, "").matchAll(/\s([a-z-]+)=/g)].map(([, at]) => at),
  );
  expect(
    [...new Set(names)].filter((at) => at === "style" || at?.startsWith("on")),
    name,
  ).toEqual([]);
}

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

async function withTestSql<T>(fn: Parameters<typeof withSql<T>>[2]): Promise<T> {
  return withSql(database.url, { applicationName: "docmirror test", max: 1 }, fn);
}

describe("the page of all projects", () => {
  it("says how current it is, sums up, and lists what is to be mended", async () => {
    const page = await pages.page("/");
    expect(page.match(/<h1>/g)).toHaveLength(1);
    expect(textOf(page)).toMatch(/Data current through \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    const hostile = Object.keys(HOSTILE_SLUGS).length;
    // 30 of 40 builds of pip succeeded; each hostile project has one that failed.
    expect(textOf(page)).toContain(`${((30 / (40 + hostile)) * 100).toFixed(1)} %`);
    expect(textOf(page)).toMatch(new RegExp(`Failing now\\s*${hostile}\\s`));
    expect(rowsOf(page, "failing-now")).toHaveLength(hostile);
    expect(rowsOf(page, "stuck-builds").map(([id]) => id)).toEqual(["2000"]);
    expect(rowsOf(page, "runs").map(([run, status]) => [run, status])).toEqual([
      ["2", "✓ succeeded"],
      ["1", "✗ failed"],
    ]);
    expect(textOf(blockOf(page, "runs"))).toContain("The last round of the watch, run 3,");
    expect(rowsOf(page, "freshness")).toHaveLength(5);
  });

  it("shows for each chart the same numbers as a table, with its CSV and its SQL", async () => {
    const page = await pages.page("/");
    for (const id of ["success-rate", "volume", "durations"]) {
      const block = blockOf(page, id);
      expect(block).toContain('<figure class="chart">');
      expect(block).toMatch(/href="\/report\/(success_rate|build_times)_daily\.csv\?since=/);
      expect(textOf(block)).toMatch(/select day, [\s\S]*from report\.[\s\S]*order by day desc/);
    }
    const days = rowsOf(page, "volume");
    expect(days.reduce((sum, [, builds]) => sum + Number(builds), 0)).toBe(41 + 7);
    expect(days.map(([day]) => day)).toEqual(rowsOf(page, "success-rate").map(([day]) => day));
  });

  it("is narrowed by its form's fields: an empty since means all days, none means 90", async () => {
    const narrow = await pages.page(`/?since=${dayBefore(9)}&until=${dayBefore(3)}&type=html`);
    expect(rowsOf(narrow, "success-rate").map(([day]) => day)).toEqual(
      [3, 4, 5, 6, 7, 8, 9].map((days) => dayBefore(days)),
    );
    expect(rowsOf(narrow, "failing-now")).toEqual([]);
    expect(narrow).toContain('<option value="html" selected>');
    expect(textOf(blockOf(narrow, "success-rate"))).toContain("type html");
    expect(textOf(blockOf(narrow, "incident-hours"))).toContain("all types");
    expect(textOf(blockOf(narrow, "projects"))).toContain("All types");
    expect(textOf(blockOf(narrow, "runs"))).not.toMatch(/all types/i);
    // Days 4 and 8 failed.
    expect(textOf(narrow)).toContain("71.4 %");
    const other = await pages.page("/?type=pdf");
    expect(textOf(blockOf(other, "success-rate"))).toContain("No build has finished in this time");
    expect(rowsOf(other, "volume").every(([, builds]) => builds === "0")).toBe(true);
    const [standard, all] = await Promise.all([pages.page("/"), pages.page("/?since=&until=&type=")]);
    expect(textOf(blockOf(standard, "success-rate"))).toContain(`${dayBefore(89)} to today`);
    expect(textOf(blockOf(all, "success-rate"))).toContain("All days up to today");
  });

  it("takes spans, of which the links have the moment", async () => {
    const page = await pages.page("/?since=3d");
    const days = rowsOf(page, "success-rate").map(([day]) => day);
    expect(days).toEqual([0, 1, 2, 3].map((back) => dayBefore(back)));
    expect(page).toMatch(new RegExp(`\\.csv\\?since=${dayBefore(3)}T\\d\\d`));
    const csv = await pages.get("/report/success_rate_daily.csv?since=3d");
    expect((await csv.text()).trim().split("\r\n")).toHaveLength(1 + 4);
    const wrong = await pages.get("/report/success_rate_daily.csv?since=yesterday");
    expect([wrong.status, textOf(await wrong.text())]).toEqual([
      400,
      expect.stringContaining(
        "since yesterday: give a day (2026-11-03), a time (2026-11-03T12:00Z) or a span (7d)",
      ),
    ]);
  });

  it("is kept until a run begins or ends, and then made anew", async () => {
    const first = await pages.get("/?since=2026-01-01");
    const etag = first.headers.get("etag") ?? "";
    const again = await pages.get("/?since=2026-01-01", { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    await withTestSql(
      (sql) => sql`insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
        values ('watch', 'succeeded', now(), now(), now(), 1, 'test')`,
    );
    await refreshPages(database.url);
    const changed = await pages.get("/?since=2026-01-01", { headers: { "if-none-match": etag } });
    expect(changed.status).toBe(200);
    await withTestSql((sql) => sql`delete from sync.runs where id > 3`);
  });
});

describe("the page of a project", () => {
  it("has the same for one project, its versions and its builds", async () => {
    const page = await pages.page("/project/pip");
    expect(textOf(page)).toContain("https://git.example.org/pip");
    expect(textOf(page)).toMatch(/75\.0 % 59\.8–85\.8 % of 40 finished/);
    expect(rowsOf(page, "versions").map(([version, rate]) => [version, rate])).toEqual([
      ["latest", "75.0 %"],
    ]);
    expect(rowsOf(page, "last-failures").map(([id]) => id)).toEqual(
      [4, 8, 12, 16, 20, 24, 28, 32, 36, 40].map((n) => String(1000 + n)),
    );
    // Of the failures 4 and 8 days ago the one was mended 3 days ago, the other 7 days and some seconds ago.
    expect(rowsOf(page, "broke").map((row) => row.at(-1))).toEqual(["1004"]);
    expect(rowsOf(page, "recovered").map((row) => row.at(-1))).toEqual(["1004"]);
    // Each build took 90 s at most, or less: its date is the lower bound.
    const finished = rowsOf(page, "durations").filter(([, count]) => Number(count) > 0);
    expect(finished).toHaveLength(40);
    expect(new Set(finished.map(([, , median]) => median))).toEqual(new Set(["up to 1m 30s"]));
    expect(page).toContain('href="/report/success_rate_daily_by_project.csv?since=');
  });

  it("opens for every slug, however hostile, and says nothing that a browser would obey", async () => {
    for (const [name, slug] of Object.entries(HOSTILE_SLUGS)) {
      // The reports call a project by its id where its slug is empty.
      if (name === "empty") continue;
      const page = await pages.page(projectHref(slug));
      expect(rowsOf(page, "last-failures"), name).toHaveLength(1);
      expectHarmless(page, name);
    }
    const overview = await pages.page("/");
    expectHarmless(overview, "all projects");
    expect(textOf(overview)).toContain(HOSTILE_SLUGS.script);
    for (const slug of Object.values(HOSTILE_SLUGS).filter((one) => one !== "")) {
      const href = projectHref(slug).replaceAll("&", "&amp;").replaceAll("'", "&#39;");
      expect(overview).toContain(`href="${href}"`);
    }
  });

  it("is a 404 with the nearest slugs for one that is not there", async () => {
    const reply = await pages.get("/project/pipp");
    expect(reply.status).toBe(404);
    expect(await reply.text()).toContain('<a href="/project/pip">');
    expect((await pages.get("/project/a%00b")).status).toBe(400);
  });
});

describe("the page of a build", () => {
  it("tells its outcome, its states, and what their bounds are known from", async () => {
    const page = textOf(await pages.page("/build/1004"));
    expect(page).toMatch(/Outcome\s*✗ failed/);
    expect(page).toMatch(/Error line\s*fatal: unable to access the repository/);
    expect(page).toContain("Took" + "up to 1m 30s from the trigger to the finish");
    expect(page).toContain("1. first seen finished");
    expect(page).toContain("the build's own date");
    expect(page).toMatch(/duration_s_max\s*90/);
    expect(page).toMatch(/error_class\s*vcs/);
  });

  it("is found by the search, as a project is; what is neither gets a 404 with what is near", async () => {
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

describe("an answer as CSV", () => {
  it.each([
    ["success_rate_daily", { since: "2026-01-01" }],
    ["fact_builds", { project: "pip", type: "html" }],
    ["fact_builds", {}],
    ["success_rate_by_project", {}],
    ["incident_hours", {}],
  ] as const)("of %s with %j has the rows of the question", async (relation, filters: Filters) => {
    const query = new URLSearchParams(filters as Record<string, string>);
    const reply = await pages.get(`/report/${relation}.csv?${query}`);
    expect(reply.headers.get("content-type")).toContain("text/csv");
    expect(reply.headers.get("content-disposition")).toBe(`attachment; filename="${relation}.csv"`);
    const question = askFor(relation, filters);
    const rows = await withTestSql((sql) =>
      withSnapshot(sql, async (tx) => {
        const all: AnswerRow[] = [];
        for await (const batch of readAnswer(tx, question)) all.push(...batch);
        return all;
      }),
    );
    expect(await reply.text()).toBe(toCsv([[...question.columns], ...rows]));
  });

  it("is read slowly by three at once at most, and costs nothing any more when they have gone", {
    tags: ["long"],
  }, async () => {
    const isRead = () =>
      withTestSql(
        (sql) => sql`select from pg_stat_activity
          where application_name = 'docmirror serve' and datname = current_database() and xact_start is not null`,
      );
    // 40 MB, which no buffer between the two takes whole.
    await withTestSql(
      (sql) => sql`
        insert into rollup.builds (build_id, project_id, version_id, type, outcome, is_settled, is_time_ambiguous, first_seen_at, record_hash)
        select 'wide' || n, dim.project_id, '-1', 'wide', 'vanished', true, false, now(), ''
        from report.dim_projects as dim cross join generate_series(1, 2000) as n where length(dim.project_slug) = 10000`,
    );
    const stop = new AbortController();
    const read = () => pages.get("/report/fact_builds.csv", { signal: stop.signal });
    const slow = await Promise.all([read(), read(), read()]);
    expect(slow.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await isRead()).toHaveLength(3);
    expect((await read()).status).toBe(503);
    stop.abort();
    await expect.poll(isRead).toHaveLength(0);
    await withTestSql((sql) => sql`delete from rollup.builds where type = 'wide'`);
    expect((await pages.get("/report/fact_builds.csv")).status).toBe(200);
  });

  it("is refused with a reason where there is no such answer", async () => {
    const reasons = await Promise.all(
      [
        "/report/failing_nw.csv",
        "/report/fact_builds.csv?project=pipp",
        "/report/fact_builds.csv?since=yesterday",
        "/report/runs.csv?project=pip",
      ].map(async (path) => {
        const reply = await pages.get(path);
        return [reply.status, textOf((await reply.text()).split("<main")[1] ?? "")] as const;
      }),
    );
    expect(reasons.map(([status]) => status)).toEqual([400, 400, 400, 400]);
    expect(reasons[0]?.[1]).toContain("did you mean failing_now");
    expect(reasons[1]?.[1]).toContain("did you mean pip");
    expect(reasons[2]?.[1]).toContain("since yesterday: give a day");
    expect(reasons[3]?.[1]).toContain("cannot be narrowed by project");
    for (const path of ["/report/runs", "/project/%ff", "/build/a/b"]) {
      const absent = await pages.get(path);
      expect([absent.status, await absent.text()]).toEqual([
        404,
        expect.stringContaining("no page at this address"),
      ]);
    }
  });
});

describe("every reply", () => {
  it("forbids whatever is not ours, and says that it is no other type", async () => {
    const page = await pages.page("/");
    const style = /<link rel="stylesheet" href="([^"]+)"/.exec(page)?.[1] ?? "";
    expect(style).toMatch(/^\/assets\/page\.[0-9a-f]{12}\.css$/);
    for (const path of [
      "/",
      style,
      "/nosuch",
      "/project/nosuch",
      "/report/runs.csv",
      "/report/no.csv",
      "/find?q=",
    ]) {
      const { headers } = await pages.get(path);
      expect(headers.get("content-security-policy"), path).toBe(
        "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get("x-content-type-options"), path).toBe("nosniff");
      expect(headers.get("referrer-policy"), path).toBe("no-referrer");
    }
    expect((await pages.get(style)).headers.get("cache-control")).toContain("immutable");
    const links = [...page.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, link = ""]) => link);
    expect(links.filter((link) => !/^(?:[/#]|data:image\/svg\+xml,)/.test(link))).toEqual([]);
  });

  it("is to a GET or HEAD; other methods and unknown paths get a page that says so", async () => {
    const [post, head, absent] = await Promise.all([
      pages.get("/", { method: "POST", body: "x=1" }),
      pages.get("/", { method: "HEAD" }),
      pages.get("/nosuch/path"),
    ]);
    expect([post.status, post.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect(await post.text()).toContain("<h1>");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(absent.status).toBe(404);
    expect(await absent.text()).toContain("There is no page at this address");
    expect((await pages.get("/report/fact_builds.csv", { method: "HEAD" })).status).toBe(200);
  });

  it("names no host that the client made up", async () => {
    const reply = await pages.get("/", { headers: { "x-forwarded-host": "evil.example.net" } });
    expect(await reply.text()).not.toContain("evil.example.net");
  });
});

describe("without data or database", () => {
  it("an empty mirror has words of its own", async () => {
    await using empty = await createTestDatabase();
    await using served = await servePages(empty.url);
    const page = textOf(await served.page("/"));
    expect(page).toContain("There is nothing to report yet");
    expect(page).toContain("No sync has run yet");
    expect(await (await served.get("/report/fact_builds.csv")).text()).toMatch(/^build_id,[^\n]*\r\n$/);
  });

  it("old data are called so", async () => {
    await using copy = await createTestDatabase();
    await seedPages(copy.url);
    await withSql(copy.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
      await sql`update sync.walks set started_at = started_at - interval '27 hours', finished_at = finished_at - interval '27 hours'`;
    });
    await using served = await servePages(copy.url);
    expect(textOf(await served.page("/"))).toMatch(/⚠ That is 1d 4h ago/);
  });

  it("data dated by a clock that stood ahead are called old too", async () => {
    await using copy = await createTestDatabase();
    await seedPages(copy.url);
    await withSql(copy.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
      await sql`update sync.walks set started_at = started_at + interval '10 years'`;
    });
    await using served = await servePages(copy.url);
    expect(textOf(await served.page("/"))).toMatch(
      /⚠ It is unknown how long ago that is, because a clock was wrong/,
    );
  });

  it("a list that was never read to its end is named", async () => {
    await using copy = await createTestDatabase();
    await seedPages(copy.url);
    await withSql(copy.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
      await sql`delete from sync.walks where resource = 'user'`;
    });
    await using served = await servePages(copy.url);
    expect(textOf(await served.page("/"))).toContain(
      "The mirror is not whole yet: no sync has read the list of users to the end.",
    );
  });

  it("a database that is away gives 503, and the page comes back by itself", async () => {
    let answer: (url: string) => void = () => {};
    const there = new Promise<string>((resolve) => {
      answer = resolve;
    });
    await using served = await servePages(database.url, () => there);
    const away = await served.get("/");
    expect([away.status, away.headers.get("retry-after")]).toEqual([503, "10"]);
    expect(await away.text()).toContain("The database does not answer");
    answer(database.url);
    await expect.poll(async () => (await served.get("/")).status).toBe(200);
    await withTestSql(
      (sql) =>
        sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'docmirror serve' and datname = current_database()`,
    );
    await expect.poll(async () => (await served.get("/?since=2026-02-02")).status).toBe(200);
  });
});
