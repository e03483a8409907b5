import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectFiles, filesOf, runQueries } from "../../support/block-offers.ts";
import { type MirrorPages, openMirrorPages } from "../../support/mirror-pages.ts";
import { blockOf, expectHarmless, mainOf, textOf } from "../../support/page-text.ts";
import { dateAgo, dayAgo, seedDays } from "../../support/seeded-days.ts";
import { seedPages } from "../../support/served-pages.ts";

let pages: MirrorPages;

const WORDS =
  "kiln mortar hedge lupin otter plover quarry thimble vessel walnut yarrow zither juniper lantern meadow nettle orchard pepper ridge saffron tulip umber".split(
    " ",
  );

/**
 * In the last 14 days: 30 builds of 10 projects timed out, 10 of 2 projects missed a module, one build each of project 3 says one of 22 words, and
 * 138 succeeded. In the 14 days before: 5 timed out, 10 missed a module. The first build is of 28 days ago.
 */
const WORLD = `
  select 't' || n as id, 1 + n % 14 as ago, n as minute, 'html' as type, (1 + n % 10)::text as project, false as success,
    'Command killed due to timeout: make html' as error
  from generate_series(0, 29) as n
  union all select 't-' || n, 15 + n, n, 'html', '1', false, 'Command killed due to timeout: make html' from generate_series(0, 4) as n
  union all select 'd' || n, 1 + n, 40 + n, 'pdf', (1 + n % 2)::text, false, 'ModuleNotFoundError: No module named ''kiln' || n || ''''
  from generate_series(0, 9) as n
  union all select 'd-' || n, 15 + n, 40 + n, 'pdf', '1', false, 'ModuleNotFoundError: No module named ''kiln''' from generate_series(0, 9) as n
  union all select 'w' || word, 3, 100, 'html', '3', false, 'gave up at the ' || word from unnest(array['${WORDS.join("','")}']) as word
  union all select 'ok' || n, 1 + n % 14, 200 + n, 'html', '12', true, null from generate_series(1, 138) as n
  union all select 'first', 28, 300, 'html', '12', true, null`;

beforeAll(async () => {
  pages = await openMirrorPages((url) => seedDays(url, WORLD));
});
afterAll(() => pages?.[Symbol.asyncDispose]());

const itemsOf = (page: string, id: string, list: string): string[] =>
  [
    ...(blockOf(page, id).split(`<ul class="${list}">`)[1] ?? "").matchAll(/<li><(?:span|div).*?<\/li>\n/gs),
  ].map(([item]) => textOf(item).replace(/\s+/g, " "));
const kindsOf = (page: string) => itemsOf(page, "classes", "multi five");
const linesOf = (page: string) => itemsOf(page, "lines", "prints");

describe("the page of errors", () => {
  it("says first what is most and what rises", async () => {
    const page = await pages.page("/errors");
    const text = mainOf(page);
    expect(text).toContain("62 builds failed in 14 days; 30 of them (48 %) say: Timed out.");
    // 30 against 5 and 22 against 0 are more than chance; 10 against 10 is not.
    expect(text).toContain(
      "“Timed out” is on the rise: 30 against 5 in the 14 days before; “Other error” too, 22 against 0.",
    );
    expect(text).toContain("Of 200 finished builds 31.0 % failed.");
    expect(page).toContain("<title>Errors: 62 failed in 14 days · docmirror</title>");
  });

  it("has a row a kind, with its failures, its projects, what changed, and its newest build", async () => {
    const kinds = kindsOf(await pages.page("/errors"));
    expect(kinds).toHaveLength(3);
    expect(kinds[0]).toMatch(/^Timed outit took too long; last t\d+, .* ago/);
    expect(kinds[0]).toMatch(/30 ?5 before ?10 ?\d+ fail now ?\+500 % more than chance/);
    expect(kinds[1]).toMatch(/^Other error.*22 ?0 before ?1 ?\d+ fail now ?new more than chance/);
    expect(kinds[2]).toMatch(/^Missing dependency.*10 ?10 before ?2 ?\d+ fail now ?no change within chance/);
  });

  it("names each day of a kind under the mouse", async () => {
    const block = blockOf(await pages.page("/errors"), "classes");
    expect(block).toContain(`<title>${dayAgo(1)}: 3</title>`);
    expect(block).toContain(`<title>${dayAgo(15)}: 1</title>`);
    expect(block).toContain('<rect class="m-quiet"');
    expect(block).toContain('aria-label="Timed out: 30 failed builds on ');
  });

  it("has a line for all that say the same, those that hit the most projects first, with their projects folded", async () => {
    const page = await pages.page("/errors");
    const lines = linesOf(page);
    expect(lines).toHaveLength(20);
    expect(lines[0]).toMatch(
      /^Command killed due to timeout: make html.*30 ?5 before ?10 10 projects with Timed out/,
    );
    expect(lines[1]).toMatch(/^ModuleNotFoundError: No module named 'kiln\d'.*10 ?10 before ?2 2 projects/);
    expect(lines[2]).toMatch(/^gave up at the \w+ newOther error · first/);
    expect(blockOf(page, "lines")).toContain('<a href="/project/project-3">');
    expect(textOf(blockOf(page, "lines"))).toContain("1–20 of 24 lines");
  });

  it("pages, sorts and filters, and each keeps the others", async () => {
    const second = await pages.page("/errors?page=2");
    expect(linesOf(second)).toHaveLength(4);
    expect(blockOf(second, "lines")).toContain('href="/errors" rel="prev"');
    const newest = linesOf(await pages.page("/errors?sort=newest"));
    expect(newest[0]).toMatch(/^gave up at the/);
    expect(linesOf(await pages.page("/errors?sort=rise"))[0]).toMatch(/^Command killed/);
    const page = await pages.page("/errors?kind=dependency&sort=builds&since=7d");
    expect(linesOf(page)).toHaveLength(1);
    const block = blockOf(page, "lines");
    expect(block).toContain(`href="/errors?since=${dateAgo(7)}&amp;sort=builds"`);
    expect(block).toContain(`href="/errors?kind=dependency&amp;since=${dateAgo(7)}&amp;sort=rise#lines"`);
    expect(block).toMatch(/kind=dependency"[^>]* aria-current="true">Missing dependency/);
    expect(page).toContain(`href="/errors?kind=dependency&amp;sort=builds&amp;since=${dateAgo(14)}">14 days`);
    expect(mainOf(page)).toContain("in 7 days");
  });

  it("never calls a choice that leaves nothing good, and names the nearest kind", async () => {
    const page = await pages.page("/errors?kind=timeot");
    expect(mainOf(page)).toMatch(/There is no such kind of error\.\s+So this says nothing about builds\./);
    expect(page).toContain('href="/errors?kind=timeout">Did you mean Timed out?');
    const none = textOf(blockOf(await pages.page("/errors?kind=memory"), "lines"));
    expect(none).toContain(
      "No line of this kind. No build of 14 days failed with “Out of memory”.All 62 failed builds",
    );
    expect(textOf(blockOf(await pages.page("/errors?page=9"), "lines"))).toContain("No such page.");
    expect(mainOf(await pages.page("/errors?since=2999-01-01"))).toContain(
      "No build of these days is known.",
    );
    expect((await pages.get("/errors?since=soon")).status).toBe(400);
  });

  it("says of a long period that the counts of lines are those of all time", async () => {
    await using served = await openMirrorPages((url) =>
      seedDays(
        url,
        "select 'b' || ago as id, ago, 0 as minute, 'html' as type, '1' as project, ago % 2 = 0 as success, case when ago % 2 = 1 then 'Command killed due to timeout: make' end as error from generate_series(1, 200) as ago",
      ),
    );
    const page = await served.page(`/errors?since=${dateAgo(200)}`);
    expect(mainOf(page)).toContain("100 builds failed in 200 days; all of them say: Timed out.");
    expect(mainOf(page)).toContain("so nothing can be said to rise");
    expect(mainOf(page)).not.toContain("Rising");
    expect(textOf(blockOf(page, "lines"))).toContain("they ignore the dates");
    expect(linesOf(page)[0]).toMatch(/^Command killed due to timeout: make.*100 ?1 ?$/);
    // Where everything of the days is known and nothing failed, that may be said.
    const good = mainOf(await served.page(`/errors?since=${dateAgo(4)}&until=${dateAgo(4)}`));
    expect(good).toContain("No build failed in one day; 1 build finished.");
  });

  it("offers every block as files, and its SQL, which runs as it is shown", async () => {
    for (const [path, lines] of [
      ["/errors", 20],
      ["/errors?kind=timeout&sort=rise", 1],
    ] as const) {
      const page = await pages.page(path);
      // A row for each day and kind with a failure, and for each line of the page.
      expect(await runQueries(pages, page)).toEqual([40, lines]);
      await expectFiles(pages, filesOf(page));
    }
  });

  it("escapes what others named", async () => {
    await using served = await openMirrorPages(seedPages);
    for (const query of [
      "",
      "?kind=unclassified",
      `?kind=${encodeURIComponent('"><script>x')}&sort=x&page=-1`,
    ])
      expectHarmless(await served.page(`/errors${query}`), query);
  });
});
