import { describe, expect, it } from "vitest";
import { offeredRows } from "../../support/block-offers.ts";
import { openMirrorPages, usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, textOf } from "../../support/page-text.ts";
import { expectGolden, type GoldenWorld } from "../../support/page-words.ts";
import { dateAgo, dayAgo, seedDays } from "../../support/seeded-days.ts";

const WORDS =
  "kiln mortar hedge lupin otter plover quarry thimble vessel walnut yarrow zither juniper lantern meadow nettle orchard pepper ridge saffron tulip umber".split(
    " ",
  );

/**
 * In the last 14 days, today included: 30 builds of 10 projects timed out, 10 of 2 projects missed one of 7 modules, one build each of project 3 says one of 22 words, and
 * 138 succeeded. In the 14 days before: 5 timed out, 10 missed a module, as many finished; none on the first of
 * these days back, of which only a part counts. The first build is of 27 days ago.
 */
const WORLD = `
  select 't' || n as id, 1 + n % 13 as ago, n as minute, 'html' as type, (1 + n % 10)::text as project, false as success,
    'Command killed due to timeout: make html' as error
  from generate_series(0, 29) as n
  union all select 't-' || n, 15 + n, n, 'html', '1', false, 'Command killed due to timeout: make html' from generate_series(0, 4) as n
  union all select 'd' || n, n, 40 + n, 'pdf', (1 + n % 2)::text, false, 'ModuleNotFoundError: No module named ''kiln' || n % 7 || ''''
  from generate_series(0, 9) as n
  union all select 'd-' || n, 15 + n, 40 + n, 'pdf', '1', false, 'ModuleNotFoundError: No module named ''kiln''' from generate_series(0, 9) as n
  union all select 'w' || word, 3, 100, 'html', '3', false, 'gave up at the ' || word from unnest(array['${WORDS.join("','")}']) as word
  union all select 'ok' || n, n % 14, 200 + n, 'html', '12', true, null from generate_series(1, 138) as n
  union all select 'ok-' || n, 15 + n % 12, 200 + n, 'html', '12', true, null from generate_series(1, 184) as n
  union all select 'first', 27, 300, 'html', '12', true, null`;

const pages = usePages((url) => seedDays(url, WORLD));
const ofDays = (builds: string) => (url: string) => seedDays(url, builds);

const printsOf = (page: string): string[] => {
  const kinds = /<li><div class="kind[ "].*?(?=<li><div class="kind[ "]|<p class="kinds-key">)/gs;
  return [...blockOf(page, "lines").matchAll(kinds)].map(([item]) => oneLine(item));
};
const oneLine = (html: string) => textOf(html).replace(/\s+/g, " ");

/** Builds that fail at a minute after noon of a day. */
const failed = (ago: number, minute: number, count: number) => `
  select 'b' || ${ago} || ${minute + 720} || n as id, ${ago} as ago, ${minute} as minute, 'html' as type, n::text as project, false as success,
    'fatal: unable to access it' as error from generate_series(1, ${count}) as n`;
// The first minute of each day, and the last one of yesterday.
const PARTS = [failed(3, 0, 1), failed(1, -720, 3), failed(1, 719, 5), failed(0, -720, 4)];

const NONE = ["kind=timeot", "kind=memory", "line=0", "page=9", "since=2999-01-01"];
const CHOICES = ["sort=projects", "page=3", "kind=dependency", `since=${dateAgo(20)}`];
const WORLDS: readonly GoldenWorld[] = [
  {
    // 30 against 5 of one line in 10 projects is more than chance. 22 lines of one project are no sign of one cause.
    of: "28 days",
    pages,
    paths: ["/errors", ...[...CHOICES, ...NONE].map((query) => `/errors?${query}`)],
  },
  {
    of: "a day that is not over, and one that is",
    fill: ofDays(PARTS.join(" union all ")),
    paths: [`/errors?since=${dateAgo(0)}`, `/errors?since=${dateAgo(1)}&until=${dateAgo(1)}`],
  },
  {
    of: "nine lines of one build each, which are not listed",
    fill: ofDays(`
      select 'm' || n as id, 1 + n as ago, n as minute, 'html' as type, (1 + n % 5)::text as project, false as success,
        'ImportError: No module named ''kiln' || n || '''' as error
      from generate_series(1, 9) as n`),
    paths: ["/errors"],
  },
  {
    of: "a period so long that the counts of lines are those of all time",
    fill: ofDays(`
      select 'b' || ago as id, ago, 0 as minute, 'html' as type, '1' as project, ago % 2 = 0 as success,
        case when ago % 2 = 1 then 'Command killed due to timeout: make' end as error
      from generate_series(1, 200) as ago`),
    paths: [`/errors?since=${dateAgo(200)}`, `/errors?since=${dateAgo(4)}&until=${dateAgo(4)}`],
  },
  {
    of: "failures of today alone",
    fill: ofDays(`
      select 'now' || to_char(n, 'FM00') as id, 0 as ago, n as minute, 'html' as type, '1' as project, false as success, 'fatal: no such tag' as error
      from generate_series(1, 21) as n
      union all select 'ok' || n, n, n, 'html', '1', true, null from generate_series(1, 40) as n`),
    paths: ["/errors", `/errors?since=${dateAgo(3)}&until=${dateAgo(1)}`],
  },
];

describe("the page of errors", () => {
  it("has the words of its golden file", () => expectGolden("errors.golden.txt", WORLDS));

  it("names each day of a kind under the mouse", async () => {
    const block = blockOf(await pages.page("/errors"), "classes");
    expect(block).toContain(`<title>${dayAgo(1)}: 3</title>`);
    expect(block).toContain(`<title>${dayAgo(15)}: 1</title>`);
    expect(block).toContain('<rect class="m-quiet"');
  });

  it("marks what rises by more than chance: one line and two kinds", async () => {
    const page = await pages.page("/errors?sort=projects");
    expect(printsOf(page)).toHaveLength(10);
    expect(blockOf(page, "lines").match(/class="(?:kind|kline) rises"/g)).toHaveLength(1);
    expect(blockOf(page, "classes").match(/delta bad/g)).toHaveLength(2);
    expect(blockOf(page, "lines")).toContain(
      'class="mask"><bdi>ModuleNotFoundError: No module named </bdi><i>‹name›</i></p>',
    );
  });

  it("shows one line with all its projects, and one kind with all its lines", async () => {
    const more = /\/errors\?print=([0-9a-f]{16})&amp;sort=projects#lines">4 more lines/;
    const [, print] = more.exec(await pages.page("/errors?sort=projects")) ?? [];
    const kind = printsOf(await pages.page(`/errors?print=${print}`));
    expect(kind).toHaveLength(1);
    expect(kind[0]?.match(/first [^·]*· last d\d,/g)).toHaveLength(7);
    const ofLine = /line=([0-9a-f]{16})#lines/.exec(await pages.page("/build/t0"))?.[1];
    const one = await pages.page(`/errors?line=${ofLine}`);
    expect(printsOf(one)).toHaveLength(1);
    expect(blockOf(one, "lines")).toContain('<details class="also" open>');
    expect(blockOf(one, "lines").match(/<li><time/g)).toHaveLength(10);
  });

  it("pages, sorts and filters, and each keeps the others", async () => {
    expect(printsOf(await pages.page("/errors?page=3"))).toHaveLength(4);
    expect(printsOf(await pages.page("/errors?sort=newest"))[0]).toMatch(/^gave up at the/);
    expect(printsOf(await pages.page("/errors?sort=rise"))[0]).toMatch(/^Command killed/);
    const page = await pages.page("/errors?kind=dependency&sort=builds&since=7d");
    const week = `/errors?since=${dateAgo(7)}&amp;`;
    expect(blockOf(page, "lines")).toContain(
      `Only “Missing dependency”. <a href="${week}sort=builds#lines">`,
    );
    expect(page).toContain(`href="${week}kind=dependency&amp;sort=projects#lines">Most projects`);
    expect(page).toContain(`<input id="since" name="since" type="date" value="${dateAgo(7)}"`);
    expect(page).toContain('<input type="hidden" name="kind" value="dependency">');
  });

  it("keeps both ends of the period in each of its links but those to other periods", async () => {
    const page = await pages.page(`/errors?since=${dateAgo(14)}&until=${dateAgo(2)}&sort=newest`);
    const links = [...page.matchAll(/href="(\/errors\?[^"]*)"/g)].map(([, href = ""]) => textOf(href));
    const others = links.filter((href) => !href.includes(`since=${dateAgo(14)}&until=${dateAgo(2)}`));
    expect(others.every((href) => !href.includes("#lines"))).toBe(true);
    expect(links.filter((href) => href.includes("kind="))).not.toEqual([]);
    expect(links.some((href) => href.includes("page=2"))).toBe(true);
  });

  it("has each line of a kind in its files, also those for which the page has no room", {
    tags: ["long"],
  }, async () => {
    const lines70 = ofDays(`
      select 'm' || n || '-' || copy as id, 1 + n % 13 as ago, n as minute, 'html' as type, (1 + n % 5)::text as project, false as success,
        'ImportError: No module named ''kiln' || n || '''' as error
      from generate_series(1, 70) as n, generate_series(1, 2) as copy`);
    await using served = await openMirrorPages(lines70);
    const print = /print=([0-9a-f]{16})/.exec(await served.page("/errors"))?.[1];
    const page = await served.page(`/errors?print=${print}`);
    const block = blockOf(page, "lines");
    expect(block.match(/<li class="kline[ "]/g)).toHaveLength(61);
    expect(block).not.toContain(`print=${print}#lines`);
    const { lines = [] } = await offeredRows(served, page);
    expect(new Set(lines.map(({ error_line }) => error_line)).size).toBe(70);
    expect(lines.every(({ failures, kind_failures }) => failures === 2 && kind_failures === 140)).toBe(true);
  });

  it("offers every block as files, and its SQL, which runs as it is shown", { tags: ["long"] }, async () => {
    for (const path of ["/errors", "/errors?kind=timeout&sort=rise"]) {
      const page = await pages.page(path);
      // A row for each day and class with a failure, and for each line of each kind, also of further pages.
      const { classes, lines = [] } = await offeredRows(pages, page);
      const kinds = Number(/<span class="count">(\d+) kind/.exec(blockOf(page, "lines"))?.[1]);
      const prints = new Set(lines.map(({ error_fingerprint }) => error_fingerprint));
      expect([classes?.length, prints.size]).toEqual([39, kinds]);
      expect(lines).toHaveLength(path === "/errors" ? 1 + 7 + 22 : 1);
    }
    const young = await pages.page(`/errors?since=${dateAgo(20)}`);
    const { lines = [] } = await offeredRows(pages, young, "lines");
    expect(lines.map(({ failures_before }) => failures_before)).toEqual(lines.map(() => null));
  });

  it("says of a kind that rises, where no line does, that it has no one cause; Trends says it rises too", async () => {
    const many = ofDays(`
      select 'many' || n as id, 1 + n % 13 as ago, n as minute, 'html' as type, (1 + n % 12)::text as project, false as success,
        'ModuleNotFoundError: No module named ''kiln' || n || '''' as error
      from generate_series(1, 40) as n
      union all select 'old' || n, 14 + n, n, 'html', '1', n > 3, case when n <= 3 then 'ModuleNotFoundError: No module named ''x''' end
      from generate_series(0, 15) as n`);
    await using served = await openMirrorPages(many);
    const errors = await served.page("/errors?kind=vcs");
    expect(mainOf(errors)).toContain("but no single line of it did");
    const change = /<span class="delta bad">.*?more than chance/s;
    expect(blockOf(errors, "classes")).toMatch(change);
    expect(blockOf(await served.page("/trends"), "why")).toMatch(change);
  });

  it("names first the line that began today in many projects, with its first build and all its projects", {
    tags: ["long"],
  }, async () => {
    const noon = "(date_trunc('day', now() at time zone 'utc') + interval '12 hours')";
    const minute = `(extract(epoch from now() at time zone 'utc' - ${noon}) / 60)::int`;
    const began = `${WORLD}
      union all select 'new' || n, 0, ${minute} - 60 + n, 'html', (1 + n)::text, false, 'ImportError: No module named ''foo'''
      from generate_series(0, 7) as n
      union all select 'few' || n, 0, ${minute} - 9, 'html', (1 + n)::text, false, 'ImportError: No module named ''bar'''
      from generate_series(0, 3) as n
      union all select 'usual' || n, n % 27, case n % 27 when 0 then ${minute} - 60 + n / 27 else 500 + n end, 'html', (1 + n / 27)::text, false,
        'ImportError: No module named ''usual'''
      from generate_series(0, 7 * 27) as n`;
    await using served = await openMirrorPages(ofDays(began));
    const page = await served.page("/errors");
    expect(mainOf(page)).toMatch(
      /“No module named 'foo'” began at (\d+ \w+ )?\d\d:\d\d and hit 8 projects\./,
    );
    expect(page).toContain('<a href="/build/new0">The first of them');
    const risen = oneLine(blockOf(page, "risen"));
    expect(risen).toMatch(/8 projects since (\d+ \w+ )?[\d:]+: ImportError: No module named 'foo' ?new/);
    expect(risen).not.toContain("bar");
    // As many projects in these 24 hours, and in all of the days before.
    expect(risen).not.toContain("usual");
    const href = /href="(\/errors\?since=[^"#]*line=[^"#]*)#lines">8 projects/.exec(page)?.[1] ?? "";
    const own = await served.page(href.replaceAll("&amp;", "&"));
    expect(blockOf(own, "lines").match(/<li><time/g)).toHaveLength(8);
    const now = await served.page("/");
    expect(mainOf(now)).toMatch(/“No module named 'foo'” began at .* and hit 8 projects\./);
    expect(now).toContain("<title>↑ No module named &#39;foo&#39; hit 8 projects · docmirror</title>");
  });
});
