import { describe, expect, it } from "vitest";
import { offeredRows } from "../../support/block-offers.ts";
import { openMirrorPages, usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, textOf } from "../../support/page-text.ts";
import { expectGolden } from "../../support/page-words.ts";
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
const serveDays = (builds: string) => openMirrorPages((url) => seedDays(url, builds));

const kindsOf = (page: string): string[] => {
  const list = blockOf(page, "classes").split('<ul class="multi five">')[1] ?? "";
  return [...list.matchAll(/<li><(?:span|div).*?<\/li>\n/gs)].map(([item]) => oneLine(item));
};
const printsOf = (page: string): string[] => {
  const kinds = /<li><div class="kind[ "].*?(?=<li><div class="kind[ "]|<p class="kinds-key">)/gs;
  return [...blockOf(page, "lines").matchAll(kinds)].map(([item]) => oneLine(item));
};
const oneLine = (html: string) => textOf(html).replace(/\s+/g, " ");

describe("the page of errors", () => {
  it("has the words of its golden file", async () => {
    // 30 against 5 of one line in 10 projects is more than chance. 22 lines of one project are no sign of one cause.
    const none = ["kind=timeot", "kind=memory", "line=0", "page=9", "since=2999-01-01"];
    const paths = ["/errors", ...[`since=${dateAgo(20)}`, ...none].map((query) => `/errors?${query}`)];
    await expectGolden(pages, "errors.golden.txt", paths);
  });

  it("compares a part of a day with the same part of the day before", async () => {
    const at = (ago: number, minute: number, count: number) => `
      select 'b' || ${ago} || ${minute + 720} || n as id, ${ago} as ago, ${minute} as minute, 'html' as type, n::text as project, false as success,
        'fatal: unable to access it' as error from generate_series(1, ${count}) as n`;
    // The first minute of each day, and the last one of yesterday.
    const world = [at(3, 0, 1), at(1, -720, 3), at(1, 719, 5), at(0, -720, 4)].join(" union all ");
    await using served = await serveDays(world);
    const page = await served.page(`/errors?since=${dateAgo(0)}`);
    expect(kindsOf(page)[0]).toMatch(/^Source not reachable.*4 ?3 before/);
    expect(printsOf(page)[0]).toMatch(/4builds, 3 before/);
    expect(textOf(blockOf(page, "lines"))).toMatch(
      /The last day is not over, so the days before are counted up to .* only\./,
    );
    // Yesterday is over, so the whole day counts.
    const whole = await served.page(`/errors?since=${dateAgo(1)}&until=${dateAgo(1)}`);
    expect(kindsOf(whole)[0]).toMatch(/^Source not reachable.*8 ?0 before/);
    expect(textOf(whole)).not.toContain("is not over");
  });

  it("has a row a kind, with its failures, its projects, what changed, and its newest build", async () => {
    const kinds = kindsOf(await pages.page("/errors"));
    expect(kinds).toHaveLength(3);
    expect(kinds[0]).toMatch(/^Timed outit took too long; last t\d+, .* ago/);
    expect(kinds[0]).toMatch(/30 ?5 before ?10 ?\d+ fail now ?\+500 % more than chance/);
    expect(kinds[1]).toMatch(/^Other error.*22 ?0 before ?1 ?\d+ fails? now ?new more than chance/);
    expect(kinds[2]).toMatch(/^Missing dependency.*10 ?10 before ?2 ?\d+ fail now ?no change within chance/);
  });

  it("names each day of a kind under the mouse", async () => {
    const block = blockOf(await pages.page("/errors"), "classes");
    expect(block).toContain(`<title>${dayAgo(1)}: 3</title>`);
    expect(block).toContain(`<title>${dayAgo(15)}: 1</title>`);
    expect(block).toContain('<rect class="m-quiet"');
    expect(block).toContain('aria-label="Timed out: 30 failed builds on ');
  });

  it("shows a kind by what its lines share, never by one of them, and below it the lines with most builds", async () => {
    const page = await pages.page("/errors");
    const prints = printsOf(page);
    expect(prints).toHaveLength(10);
    const [timeout] = prints;
    expect(timeout).toMatch(
      /^Command killed due to timeout: make html ?same error ?Timed out · one line in all 30/,
    );
    expect(timeout).toMatch(
      /rises: 15\.0 % against 2\.5 % of builds ?first .*30builds, 5 before ?10 ?projects ?10 projects with Timed/,
    );
    // Its only line is not shown again below it.
    expect(timeout?.match(/rises: 15/g)).toHaveLength(1);
    const modules = printsOf(await pages.page("/errors?sort=projects"))[1];
    expect(modules).toMatch(
      /^ModuleNotFoundError: No module named ‹name› ?same kind ?Missing dependency · 7 different lines, so maybe/,
    );
    expect(modules).toMatch(/10builds, 10 before ?2projects ?ModuleNotFoundError: No module named 'kiln\d'/);
    expect(modules?.match(/'kiln\d'(?!.*\d projects? with)/g)).not.toBeNull();
    expect(modules).toMatch(/4 more lines, none with more than 1 build ?4 ?builds ?2 ?projects/);
    const block = blockOf(await pages.page("/errors?sort=projects"), "lines");
    expect(block).toContain('class="mask"><bdi>ModuleNotFoundError: No module named </bdi><i>‹name›</i></p>');
    // Only the line that rises is red.
    expect(block.match(/class="(?:kind|kline) rises"/g)).toHaveLength(1);
    // So are the two kinds that rise by more than chance, as on Trends.
    expect(blockOf(page, "classes").match(/delta bad/g)).toHaveLength(2);
    expect(textOf(block)).toContain("1–10 of 24 kinds");
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
    const third = await pages.page("/errors?page=3");
    expect(printsOf(third)).toHaveLength(4);
    expect(blockOf(third, "lines")).toContain('href="/errors?page=2" rel="prev"');
    expect(printsOf(await pages.page("/errors?sort=newest"))[0]).toMatch(/^gave up at the/);
    expect(printsOf(await pages.page("/errors?sort=rise"))[0]).toMatch(/^Command killed/);
    const page = await pages.page("/errors?kind=dependency&sort=builds&since=7d");
    expect(printsOf(page)).toHaveLength(1);
    const week = `/errors?since=${dateAgo(7)}&amp;`;
    expect(blockOf(page, "lines")).toContain(
      `Only “Missing dependency”. <a href="${week}sort=builds#lines">All`,
    );
    expect(page).toContain(`href="${week}kind=dependency&amp;sort=projects#lines">Most projects`);
    expect(blockOf(page, "classes")).toContain(`href="${week}kind=timeout&amp;sort=builds#lines"`);
    expect(page).toContain(`href="/errors?since=${dateAgo(13)}&amp;kind=dependency&amp;sort=builds">14 days`);
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

  it("says nothing of a time before that the mirror does not know", async () => {
    const page = await pages.page(`/errors?since=${dateAgo(20)}`);
    expect(textOf(blockOf(page, "lines"))).not.toMatch(/\d before|within chance/);
    const { lines = [] } = await offeredRows(pages, page, "lines");
    expect(lines.map(({ failures_before }) => failures_before)).toEqual(lines.map(() => null));
  });

  it("has each line of a kind in its files, also those for which the page has no room", {
    tags: ["long"],
  }, async () => {
    await using served = await serveDays(`
      select 'm' || n || '-' || copy as id, 1 + n % 13 as ago, n as minute, 'html' as type, (1 + n % 5)::text as project, false as success,
        'ImportError: No module named ''kiln' || n || '''' as error
      from generate_series(1, 70) as n, generate_series(1, 2) as copy`);
    const print = /print=([0-9a-f]{16})/.exec(await served.page("/errors"))?.[1];
    const page = await served.page(`/errors?print=${print}`);
    const block = blockOf(page, "lines");
    expect(block.match(/<li class="kline[ "]/g)).toHaveLength(61);
    expect(textOf(block)).toContain("10 more lines");
    expect(block).not.toContain(`print=${print}#lines`);
    const { lines = [] } = await offeredRows(served, page);
    expect(new Set(lines.map(({ error_line }) => error_line)).size).toBe(70);
    expect(lines.every(({ failures, kind_failures }) => failures === 2 && kind_failures === 140)).toBe(true);
  });

  it("lists no lines of one build each, but says how many there are", async () => {
    await using served = await serveDays(`
      select 'm' || n as id, 1 + n as ago, n as minute, 'html' as type, (1 + n % 5)::text as project, false as success,
        'ImportError: No module named ''kiln' || n || '''' as error
      from generate_series(1, 9) as n`);
    const block = blockOf(await served.page("/errors"), "lines");
    expect(oneLine(block)).toMatch(/9 lines, none with more than 1 build ?9 ?builds ?5 ?projects/);
    expect(block).not.toContain("kiln1");
  });

  it("says of a long period that the counts of lines are those of all time", async () => {
    await using served = await serveDays(`
      select 'b' || ago as id, ago, 0 as minute, 'html' as type, '1' as project, ago % 2 = 0 as success,
        case when ago % 2 = 1 then 'Command killed due to timeout: make' end as error
      from generate_series(1, 200) as ago`);
    const page = await served.page(`/errors?since=${dateAgo(200)}`);
    expect(mainOf(page)).toMatch(/100 builds failed on .*, up to \d\d:\d\d;/);
    expect(mainOf(page)).not.toContain("Rising");
    expect(textOf(blockOf(page, "lines"))).toContain("they ignore the dates");
    expect(printsOf(page)[0]).toMatch(/^Command killed due to timeout: make ?same .*100 ?builds ?1 ?project/);
    // Where everything of the days is known and nothing failed, that may be said.
    const good = mainOf(await served.page(`/errors?since=${dateAgo(4)}&until=${dateAgo(4)}`));
    expect(good).toContain("No build failed");
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
  });

  it("takes today in, and its verdict names its days", { tags: ["long"] }, async () => {
    await using served = await serveDays(`
      select 'now' || n as id, 0 as ago, n as minute, 'html' as type, '1' as project, false as success, 'fatal: no such tag' as error
      from generate_series(1, 21) as n
      union all select 'ok' || n, n, n, 'html', '1', true, null from generate_series(1, 40) as n`);
    const text = textOf(mainOf(await served.page("/errors")));
    expect(text).toMatch(
      new RegExp(
        `21 builds failed on .*${dayAgo(0)}, up to \\d\\d:\\d\\d; all of them have an error that no rule names`,
      ),
    );
    const good = textOf(mainOf(await served.page(`/errors?since=${dateAgo(3)}&until=${dateAgo(1)}`)));
    expect(good).toMatch(new RegExp(`No build failed on .*${dayAgo(1)}; 3 builds finished`));
  });

  it("says of a kind that rises, where no line does, that it has no one cause; Trends says it rises too", async () => {
    await using served = await serveDays(`
      select 'many' || n as id, 1 + n % 13 as ago, n as minute, 'html' as type, (1 + n % 12)::text as project, false as success,
        'ModuleNotFoundError: No module named ''kiln' || n || '''' as error
      from generate_series(1, 40) as n
      union all select 'old' || n, 14 + n, n, 'html', '1', n > 3, case when n <= 3 then 'ModuleNotFoundError: No module named ''x''' end
      from generate_series(0, 15) as n`);
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
    await using served = await serveDays(`${WORLD}
      union all select 'new' || n, 0, ${minute} - 60 + n, 'html', (1 + n)::text, false, 'ImportError: No module named ''foo'''
      from generate_series(0, 7) as n
      union all select 'few' || n, 0, ${minute} - 9, 'html', (1 + n)::text, false, 'ImportError: No module named ''bar'''
      from generate_series(0, 3) as n
      union all select 'usual' || n, n % 27, case n % 27 when 0 then ${minute} - 60 + n / 27 else 500 + n end, 'html', (1 + n / 27)::text, false,
        'ImportError: No module named ''usual'''
      from generate_series(0, 7 * 27) as n`);
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
