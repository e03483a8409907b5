import { describe, expect, it } from "vitest";
import { buildHref, projectHref } from "../../../src/page/parts/links.ts";
import { type BlockRow, offeredRows } from "../../support/block-offers.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, rowsOf, textOf } from "../../support/page-text.ts";
import { seedPages } from "../../support/served-pages.ts";

/**
 * More of all than a page shows: 60 projects that fail, of three kinds and 30 lines; 12 builds that are open; and `big`, with 40 builds of each
 * of 30 versions, of which some broke and were fixed lately.
 */
const ROWS = `
  insert into mirror.projects (id, slug, name, source, listed, default_version, first_seen_at, changed_at, record_hash)
  select (100 + n)::text, 'p' || to_char(n, 'FM00'), 'Project ' || n, 'list', true, 'latest', now(), now(), ''::bytea from generate_series(1, 60) as n
  union all select '99', 'big', 'Big', 'list', true, 'latest', now(), now(), '';
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  select id || kind, kind, id, now(), now(), ''::bytea from mirror.projects, unnest(array['latest', 'stable']) as of (kind) where id::int between 101 and 160
  union all select '99v' || n, 'v' || n, '99', now(), now(), ''::bytea from generate_series(1, 30) as n;
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select '5' || id || place, date_trunc('second', now() at time zone 'utc') - id::int * interval '30 minutes' - place * interval '3 days',
    'finished', place > 0 and kind = 'latest', case when kind = 'latest' then 'html' else 'pdf' end, id, id || kind, now(), now(), ''::bytea
  from mirror.projects cross join unnest(array['latest', 'stable']) as of (kind) cross join generate_series(0, 1) as place
  where id::int between 101 and 160 and place = (kind = 'stable')::int
  union all
  select '8' || id, date_trunc('second', now() at time zone 'utc') - interval '4 days', 'finished', true, 'html', id, id || 'latest', now(), now(), ''::bytea
  from mirror.projects where id::int between 101 and 160
  union all
  select (700000 + 100 * version + n)::text, date_trunc('second', now() at time zone 'utc') - n * interval '7 hours' - version * interval '3 minutes',
    'finished', n % 3 <> version % 3, 'html', '99', '99v' || version, now(), now(), ''::bytea
  from generate_series(1, 30) as version, generate_series(1, 40) as n;
  insert into mirror.builds (id, date, state, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select (6000 + n)::text, date_trunc('second', now() at time zone 'utc') - n * interval '50 minutes', 'building', 'html', (100 + n)::text,
    (100 + n) || 'latest', now(), now(), ''::bytea
  from generate_series(1, 12) as n;
  insert into mirror.build_logs (build_id, error)
  select id, (array['ModuleNotFoundError: No module named ', 'Command killed due to timeout: make ', 'Warning, treated as error: in chapter '])[1 + n % 3]
    || repeat('very ', n % 30) || 'old'
  from (select id, row_number() over (order by id)::int as n from mirror.builds where not success and project_id::int between 99 and 160) as failed;
  insert into mirror.build_transitions (build_id, seq, to_state, not_before, not_after, run_id, rule)
  select id, 1, state, date at time zone 'utc', date at time zone 'utc' + interval '70 s', 2, 'date' from mirror.builds
  where project_id::int between 99 and 160;
  insert into sync.open_builds (build_id, since, seen_at, run_id) select id, now(), now(), 2 from mirror.builds where id like '60__';
`;

const pages = usePages((url) => seedPages(url, ROWS));

/** The addresses in a block that follow a pattern, in their order; the first of each in a row of others. */
const linksOf = (page: string, block: string, pattern: RegExp): string[] =>
  [...blockOf(page, block).matchAll(pattern)].map(([, href = ""]) => textOf(href));

const project = ({ project_slug }: BlockRow) => projectHref(String(project_slug));
const buildOf = (column: string) => (row: BlockRow) => buildHref(String(row[column]));
const build = buildOf("build_id");
const failuresOf = (rows: readonly BlockRow[]) =>
  rows.reduce((sum, { failures }) => sum + Number(failures), 0);
const distinct = (all: readonly string[]) => [...new Set(all)];

const FAILS = /<div class="name"><a href="([^"]*)"/g;
const LISTED = /<th role="rowheader"[^>]*><a href="([^"]*)"/g;
const STRIP = /<a[^>]* href="(\/build\/[^"]*)"/g;

describe("every block of every page", () => {
  /** Where rows of a block are links: what stands there, and which row of the file each has; `from` is the first one. */
  it.each([
    ["/", "failing", FAILS, project, 0, 25],
    ["/?page=2", "failing", FAILS, project, 25, 25],
    ["/?show=main&page=3", "failing", FAILS, project, 50, 10],
    ["/?show=never", "failing", FAILS, project, 0, 7],
    ["/?why=timeout", "failing", FAILS, project, 0, 21],
    ["/", "stuck", /<a href="(\/build\/[^"]*)"/g, build, 0, 5],
    ["/projects", "projects", LISTED, project, 0, 25],
    ["/projects?q=p1", "projects", LISTED, project, 0, 10],
    ["/projects?q=P&state=main&sort=name&page=2", "projects", LISTED, project, 25, 25],
    ["/projects?sort=rate&page=3", "projects", LISTED, project, 50, 19],
    ["/project/big?version=v7&type=html&page=2", "builds", STRIP, build, 30, 10],
    ["/project/big", "builds", STRIP, build, 0, 30],
    ["/project/big", "failing", FAILS, buildOf("last_failed_build_id"), 0, 10],
    ["/project/big", "times", /<li><span>.*?<a href="([^"]*)"/gs, build, 0, 6],
    ["/project/big", "fixed", /<li><span><a href="([^"]*)"/g, buildOf("recovered_build_id"), 0, 5],
    ["/build/700713", "series", STRIP, build, 0, 30],
  ] as const)("%s: %s has its rows, and its files all of them", async (path, id, pattern, hrefOf, from, shown) => {
    const page = await pages.page(path);
    const rows = (await offeredRows(pages, page, id))[id] ?? [];
    const links = linksOf(page, id, pattern);
    // A strip has the newest build at its right end.
    const seen = id === "builds" ? links.toReversed() : links;
    expect(seen).toHaveLength(shown);
    expect(seen).toEqual(rows.map(hrefOf).slice(from, from + shown));
    const count = /<span class="count">([\d,]+)<\/span>/.exec(blockOf(page, id))?.[1];
    if (count !== undefined) expect(rows).toHaveLength(Number(count.replace(",", "")));
  });

  const ERRORS = ["/errors", "/errors?sort=newest&since=20d"];
  it.each(
    ERRORS,
  )("%s: lines has ten kinds at most, and its files all of them, in that order", async (path) => {
    const page = await pages.page(path);
    const { lines = [] } = await offeredRows(pages, page, "lines");
    const block = blockOf(page, "lines");
    const kinds = distinct(lines.map(({ error_fingerprint }) => String(error_fingerprint))).map((print) =>
      lines.filter(({ error_fingerprint }) => error_fingerprint === print),
    );
    expect(kinds).toHaveLength(Number(/<span class="count">(\d+) kind/.exec(block)?.[1]));
    const shown = block.matchAll(/<li><div class="kind(?: rises)?">.*?<span class="n">([\d,]+)/gs);
    const builds = [...shown].map(([, count = ""]) => Number(count.replace(",", "")));
    expect(builds).toEqual(kinds.slice(0, 10).map(([line]) => Number(line?.kind_failures)));
    for (const ofKind of kinds) expect(failuresOf(ofKind)).toBe(ofKind[0]?.kind_failures);
  });

  it("has the figures of its charts too", { tags: ["long"] }, async () => {
    const page = await pages.page("/trends?since=20d");
    const { days = [], compare = [], why = [] } = await offeredRows(pages, page);
    const told = rowsOf(page, "days").map((cells) => [1, 2, 3, 4, 7, 8].map((place) => Number(cells[place])));
    const columns = ["succeeded", "failed", "unfinished", "cancelled", "broke", "fixed"];
    expect(told.toReversed()).toEqual(days.map((row) => columns.map((name) => row[name])));
    const [now] = compare;
    const lately = days.filter(({ day }) => String(day) >= String(now?.first_day));
    const sum = (name: string) => lately.reduce((all, row) => all + Number(row[name]), 0);
    expect(columns.map((name) => now?.[name])).toEqual(columns.map(sum));
    const cells = rowsOf(page, "compare").map(([name, value]) => [name, value?.replace(",", "")]);
    const figures = Object.fromEntries(cells);
    expect(figures).toMatchObject({
      "Builds triggered": String(now?.builds),
      "Versions and formats that broke": String(now?.broke),
      "Versions and formats that were fixed": String(now?.fixed),
    });
    // A series that never worked did not break.
    const broke = lately.slice(0, -1).reduce((all, day) => all + Number(day.broke), 0);
    expect(now?.broke_a_day_before_the_end).toBe(broke);
    const share = Number(now?.of_these_fixed_within_a_day) / Number(now?.broke_a_day_before_the_end);
    expect(figures["Fixed within a day of breaking"]).toBe(`${(100 * share).toFixed(1)} %`);
    expect(failuresOf(why)).toBeGreaterThan(sum("failed") - 1);
  });

  it("of now says the kinds and the projects that it shows", async () => {
    const page = await pages.page("/");
    const { why = [], fixed = [] } = await offeredRows(pages, page);
    expect(linksOf(page, "why", /href="(\/errors[^"]*)"/g)).toEqual(
      why.map(({ error_class }) => `/errors?kind=${error_class}`),
    );
    expect(failuresOf(why)).toBe(Number(/<span class="count">(\d+)/.exec(blockOf(page, "why"))?.[1]));
    const projects = distinct(linksOf(page, "fixed", /href="(\/project\/[^"]*)"/g));
    expect(projects).toEqual(distinct(fixed.map(project)).slice(0, projects.length));
  });

  it.each([
    ...["/projects", "/errors?kind=timeout&sort=builds", "/build/h11"],
  ])("of %s is the same as CSV, as JSON and as SQL", async (path) => {
    await offeredRows(pages, await pages.page(path));
  });

  it.each([
    ...["/trends?type=html&since=90d", "/project?slug=..", "/project/big?version=v7&type=html&versions=all"],
    ...["/trends?since=2d", "/errors?since=100d", "/mirror", "/dictionary"],
    ...["/project/p07", "/build/2000", "/build/6003"],
  ])("of %s is too", { tags: ["long"] }, async (path) => {
    await offeredRows(pages, await pages.page(path));
  });
});

describe("the files of a build", () => {
  it("have its own row, its neighbours and those with its error, and nothing else", async () => {
    const rows = await offeredRows(pages, await pages.page("/build/700713"));
    expect(rows.facts).toEqual(rows.why);
    expect(rows.facts?.map(({ build_id }) => build_id)).toEqual(["700713"]);
    expect(rows.states).toHaveLength(1);
    expect(rows.series?.every(({ build_id }) => String(build_id).startsWith("7007"))).toBe(true);
  });
});

describe("a file", () => {
  it.each([
    ["/files/projects/projects.csv?state=goood", "state cannot be goood; did you mean good?"],
    ["/files/projects/projects.csv?sotr=name", "projects cannot be narrowed by sotr; did you mean sort"],
    ["/files/projects/projects.csv?page=2", "projects cannot be narrowed by page"],
    ["/files/projects/projects.csv?q=a&q=b", "q is given twice"],
    ["/files/projects/project.json", "the page projects has no rows of project; did you mean projects?"],
    ["/files/now/stuck.csv?why=timeout", "stuck cannot be narrowed by why: nothing narrows it"],
    ["/files/now/failing.csv?why=timeot", "there is no kind of error timeot; did you mean timeout?"],
    ["/files/errors/lines.csv?kind=timeot", "there is no kind of error timeot; did you mean timeout?"],
    ["/files/errors/lines.csv?line=0", "no failed build has this error line"],
    ["/files/errors/lines.csv?print=0", "no failed build has this error line"],
    ["/files/trends/days.csv?type=htm", "the mirror has no type htm; did you mean"],
    ["/files/trends/days.csv?since=soon", "since soon: give a day"],
    ["/files/trends/days.csv?until=2001-01-01", "no build of these days is known"],
    ["/files/project/builds.csv?slug=bug", "the mirror has no project bug; did you mean big"],
    ["/files/project/builds.csv?slug=big&version=v77", "no version v77 of the project big; did you mean v"],
    ["/files/project/builds.csv?slug=big&id=98", "no project big has the id 98"],
    ["/files/project/days.csv?slug=big&version=v7", "days cannot be narrowed by version"],
    ["/files/build/facts.csv?id=nosuch", "the reports have no build nosuch"],
    ["/files/build/facts.csv", "the reports have no build"],
    ["/report/fact_builds.csv?projet=pip", "fact_builds cannot be narrowed by projet; did you mean project?"],
    ["/report/runs.csv?type=html", "runs cannot be narrowed by type: it can be narrowed by since, until, l"],
    ["/report/runs.csv?limit=many", "limit is not a whole number"],
  ])("%s is refused: %s", async (path, words) => {
    const reply = await pages.get(path);
    expect([reply.status, mainOf(await reply.text())]).toEqual([400, expect.stringContaining(words)]);
  });

  it("is not there where no page has that name, and a relation's has as many rows as are asked for", async () => {
    for (const path of ["nosuch/a.csv", "constructor/a.csv", "now/failing.xml", "now"])
      expect([path, (await pages.get(`/files/${path}`)).status]).toEqual([path, 404]);
    const few = await pages.get("/report/fact_builds.json?limit=3&type=html");
    expect(await few.json()).toHaveLength(3);
    const head = await pages.get("/files/now/failing.csv", { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("content-type")).toContain("text/csv");
  });

  it("is unknown to a page: it ignores what others put into its address", async () => {
    expect((await pages.get("/projects?q=big&utm_source=chat&stat=good")).status).toBe(200);
  });
});
