import { describe, expect, it } from "vitest";
import { openMirrorPages, usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, textOf } from "../../support/page-text.ts";
import { expectGolden } from "../../support/page-words.ts";
import { HOSTILE_SLUGS, SILENCE, seedPages } from "../../support/served-pages.ts";

const HOSTILE = Object.keys(HOSTILE_SLUGS).length;

/** A break an hour ago: latest of pip, after 40 builds of which the newest succeeded. */
const BREAK = `
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  values ('3000', date_trunc('second', now() at time zone 'utc') - interval '90 minutes', 'finished', false, 'html', '1', '1', now(), now(), '');
  insert into mirror.build_logs (build_id, error) values ('3000', 'ModuleNotFoundError: No module named kiln');
`;

const pages = usePages((url) => seedPages(url, BREAK));

const rowsOf = (page: string): string[] => {
  const rows = blockOf(page, "failing").matchAll(/<li>\n<span class="when">.*?<\/svg>\n<\/li>/gs);
  return [...rows].map(([row]) => textOf(row));
};

describe("the page of now", () => {
  it("says first how many fail and what broke, and whether that is usual; the title and the icon say it too", async () => {
    const page = await pages.page("/");
    await expectGolden(pages, "now.golden.txt", ["/", "/?why=dependncy", "/?page=9", "/?show=never"]);
    expect(page).toMatch(/<link rel="icon" href="data:[^"]*b27100/);
    expect(page).toContain('<link rel="alternate" type="application/atom+xml"');
  });

  it("has a row a project, the newest break first, with its cause, its build and whether it ever was good", async () => {
    const page = await pages.page("/");
    const rows = rowsOf(page);
    expect(rows).toHaveLength(1 + HOSTILE);
    const block = textOf(blockOf(page, "failing"));
    expect(block).toContain(`Failing now ${1 + HOSTILE} projects`);
    expect(block).toMatch(new RegExp(`24 hours 1 project still failing,.* ${HOSTILE} projects,`, "s"));
    expect(rows[0]).toMatch(/1 h\s*main docs failing\s*pip\s*latest · html\s*main docs/);
    expect(rows[0]).toContain("Missing dependencyModuleNotFoundError: No module named kiln");
    expect(rows[0]).toContain("build 3000");
    expect(rows[0]).toMatch(
      /the last 20 of latest · html: 14 succeeded, 5 failed, 1 not finished; the newest: fai/,
    );
    expect(rows[1]).toMatch(/its first known build/);
  });

  it("asks again by itself where an address of a wall's screen says so, and says when it did", async () => {
    const reply = await pages.get("/?refresh=60");
    expect(reply.headers.get("refresh")).toBe("60");
    expect(textOf(await reply.text())).toMatch(/Asks again every 60 seconds; asked at \d\d:\d\d UTC\. Stop/);
    for (const [given, sent] of [
      ["1", "10"],
      ["99999", "3600"],
      ["soon", null],
      ["-5", null],
      ["", null],
    ])
      expect((await pages.get(`/?refresh=${given}`)).headers.get("refresh")).toBe(sent);
  });

  it("keeps one filter when the other is chosen, and counts what each leaves", async () => {
    const page = await pages.page("/?show=worked&why=dependency");
    expect(rowsOf(page)).toHaveLength(1);
    const bar = blockOf(page, "failing").split('<div class="bar">')[1]?.split("</div>")[0] ?? "";
    expect(bar).toContain('href="/?show=worked&amp;why=dependency" aria-current="true"');
    expect(bar).toContain('<input type="hidden" name="show" value="worked">');
    expect(textOf(bar)).toContain("All 1Main docs 1Worked before 1Failing versions never worked 0");
    expect(rowsOf(await pages.page("/?show=never"))).toHaveLength(HOSTILE);
  });

  it("says why builds failed, what has not finished and what was fixed", async () => {
    const page = await pages.page("/");
    expect(textOf(blockOf(page, "why"))).toMatch(/Why, last 24 h 1\D[\s\S]*Missing dependency1/);
    const stuck = textOf(blockOf(page, "stuck"));
    expect(stuck).toMatch(/2000\D*pip[\s\S]*still “building” when last seen[\s\S]*1 stuck build/);
    expect(textOf(blockOf(page, "fixed"))).toContain("None yet.");
  });
});

describe("a list that is longer than a phone shows", () => {
  /** Five more projects that fail, and six that were fixed: of the first of them two formats. */
  const MORE = `
    insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
    select n::text, 'more-' || n, 'More', 'list', true, now(), now(), '' from generate_series(401, 411) as n;
    insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
    select 'v' || id, 'latest', id, now(), now(), '' from mirror.projects where slug like 'more-%';
    insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
    select '9' || id || place, date_trunc('second', now() at time zone 'utc') - ago, 'finished', id::int > 405 and place in (2, 4), kind, id, 'v' || id, now(), now(), ''
    from mirror.projects
    cross join (values (1, 'html', interval '3 days'), (2, 'html', interval '2 hours'), (3, 'pdf', interval '3 days'), (4, 'pdf', interval '3 hours')) as built (place, kind, ago)
    where slug like 'more-%' and (kind = 'html' or id = '406');`;

  it("has ten rows and the rest behind a link, and one row for each project that was fixed", async () => {
    await using long = await openMirrorPages((url) => seedPages(url, MORE));
    const page = await long.page("/");
    const [shown = "", rest = ""] = blockOf(page, "failing").split('<div class="rest-rows" id="rest">');
    const rows = (text: string) => text.split('<span class="when">').length - 1;
    expect([rows(shown), rows(rest)]).toEqual([10, 5 + HOSTILE - 10]);
    expect(shown).toContain(`<a class="show-rest" href="#rest">${5 + HOSTILE - 10} more`);
    const fixed = blockOf(page, "fixed");
    expect(textOf(fixed)).toMatch(/Fixed, last 24 h 6\D/);
    expect(fixed.match(/ class="st good"/g)).toHaveLength(6);
    expect(textOf(fixed)).toContain("1 more fixed");
    expect(textOf(fixed).match(/1 more here/g)).toHaveLength(1);
  });
});

describe("a project of which something new broke", () => {
  /** Its main docs have failed for 39 hours, its pdf for half an hour. */
  const TWO = `
    insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
    select '5' || place, date_trunc('second', now() at time zone 'utc') - ago, 'finished', good, kind, '1', '1', now(), now(), ''
    from (values (1, 'html', interval '39 hours 5 minutes', false), (2, 'html', interval '20 hours', false), (3, 'pdf', interval '4 days', true),
      (4, 'pdf', interval '31 minutes', false)) as built (place, kind, ago, good);
    update mirror.builds set success = false where id = '1001'`;

  it("is as old as its newest break, by which it stands where it does, and says what is older and worse", async () => {
    await using served = await openMirrorPages((url) => seedPages(url, TWO));
    const page = await served.page("/");
    const [first = ""] = blockOf(page, "failing").match(/<li>\n<span class="when">.*?<\/svg>\n<\/li>/s) ?? [];
    expect(textOf(first)).toMatch(/^\s*3[01] min\s*main docs failing\s*pip\s*latest · pdf\s/);
    // In the paragraph of the reason: the first line of a row is cut where a wide page has no room for it.
    const [why = "", rest = ""] = /<p class="why">(.*?)<\/p>(.*)/s.exec(first)?.slice(1) ?? [];
    expect(textOf(why)).toMatch(/older and worse: main docs, latest · html, for 39 h, 52$/);
    expect(textOf(rest)).toMatch(/^\s*build 54/);
    expect(textOf(first)).toContain("the last 2 of latest · pdf");
    expect(textOf(first)).not.toContain("more here");
    expect(textOf(blockOf(page, "failing"))).toMatch(/24 hours 1 project still failing/);
  });
});

describe("an hour with few projects", () => {
  /** Half an hour ago nineteen projects built, five of which failed, and `twentieth`: a project's id, or null for one that the mirror lacks. */
  const built = (twentieth: string) => `
    insert into mirror.projects (id, slug, source, listed, first_seen_at, changed_at, record_hash)
    select 'more' || n, 'more' || n, 'list', true, now(), now(), '' from generate_series(1, 19) as n;
    insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
    select id, 'latest', id, now(), now(), '' from mirror.projects where id like 'more%';
    insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
    select 'late' || n, date_trunc('second', now() at time zone 'utc') - interval '30 minutes', 'finished', n > 5, 'pdf',
      case when n = 20 then ${twentieth} else 'more' || n end, case when n < 20 then 'more' || n end, now(), now(), ''
    from generate_series(1, 20) as n`;

  it.each([
    ["'1'", "No sign of trouble of the platform in the 1 hour with enough builds"],
    ["null", "Too few builds"],
  ])("takes twenty known projects to say that the platform is well; the twentieth is %s", async (twentieth, words) => {
    await using few = await openMirrorPages((url) => seedPages(url, built(twentieth)));
    expect(mainOf(await few.page("/"))).toMatch(new RegExp(words, "i"));
  });
});

describe("a mirror that knows nothing yet", () => {
  it("says so, and how to begin, on every page of figures", async () => {
    await using served = await openMirrorPages();
    for (const path of ["/", "/trends", "/projects", "/errors", "/?why=memory", "/project/pip"]) {
      const text = mainOf(await served.page(path));
      expect(text, path).toContain("Nothing is known yet");
      expect(text, path).toContain("docmirror sync");
    }
    expect(textOf(await served.page("/"))).toContain("No data yet never synced");
  });
});

describe("the page of now, when nothing is built any more", () => {
  const quiet = usePages((url) => seedPages(url, SILENCE));

  it("says so first, since when and what is usual, and claims nothing of now", async () => {
    const page = await quiet.page("/");
    const main = mainOf(page);
    expect(main).toMatch(/No build since \d+ \w+ \d\d:\d\d\. Usually 31 arrive by now\./);
    expect(main).toMatch(/31 (to 32 )?came between/);
    expect(main).toContain("they stopped there, not here.");
    expect(page).toMatch(/<title>! No build since \d+ \w+ \d\d:\d\d · docmirror<\/title>/);
    expect(page).toContain('<section class="verdict bad"');
    const failing = textOf(blockOf(page, "failing"));
    expect(failing).toMatch(/Failing at \d+ \w+ \d\d:\d\d \d+ projects/);
    expect(failing).not.toContain("last 24 hours");
    expect(main).not.toContain("Failing now");
    expect(main).toMatch(/Arrived since \d+ \w+ \d\d:\d\d/);
  });

  it("says beside the list what was checked and when it is red, and nothing of the 24 hours", async () => {
    const page = await quiet.page("/");
    const checked = textOf(blockOf(page, "checked")).replace(/\s+/g, " ");
    expect(checked).toMatch(
      /The mirror looks ?(<|\d+) ?\d* ?min ?2 looks since \d+ \w+ \d\d:\d\d, none failed/,
    );
    expect(checked).toContain("it has not said how many builds it has");
    expect(checked).toMatch(/Builds arrive ?0 ?none triggered since \d+ \w+ \d\d:\d\d/);
    expect(checked).toMatch(/1 in progress ?5 h ?1 of them stuck/);
    expect(textOf(blockOf(page, "rules"))).toContain("None came for twice the longest gap of 28 days");
    for (const href of ["#checked", "#rules"]) expect(page).toContain(`<a href="${href}">`);
    expect(page).not.toMatch(/id="(why|fixed|stuck)"|At a glance/);
  });

  it("draws the hours of the day, with what is usual", async () => {
    const block = blockOf(await quiet.page("/"), "arrivals");
    expect(block.match(/<tr><th scope="row">/g)).toHaveLength(24);
    expect(block).toMatch(/class="band"/);
    // Five whole hours at least have none.
    expect(block.match(/<circle class="zero" cx="[\d.]+%"/g)?.length).toBeGreaterThanOrEqual(5);
    expect(block).toContain('href="/files/now/arrivals.csv"');
  });

  it("keeps what it found of arrivals when the mirror looks no more", { tags: ["long"] }, async () => {
    const looked =
      "update sync.walks set started_at = started_at - interval '7 minutes' where walk = 'head';";
    await using blind = await openMirrorPages((url) => seedPages(url, `${SILENCE}; ${looked}`));
    const away = textOf(mainOf(await blind.page("/")));
    expect(away).toContain("No build since");
    expect(away).not.toContain("Failing now");
  });
});
