import { describe, expect, it } from "vitest";
import { openMirrorPages, usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, textOf } from "../../support/page-text.ts";
import { expectGolden, type GoldenWorld } from "../../support/page-words.ts";
import { HOSTILE_SLUGS, SILENCE, seedPages } from "../../support/served-pages.ts";

const HOSTILE = Object.keys(HOSTILE_SLUGS).length;

/** A break an hour ago: latest of pip, after 40 builds of which the newest succeeded. */
const BREAK = `
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  values ('3000', date_trunc('second', now() at time zone 'utc') - interval '90 minutes', 'finished', false, 'html', '1', '1', now(), now(), '');
  insert into mirror.build_logs (build_id, error) values ('3000', 'ModuleNotFoundError: No module named kiln');
`;

const pages = usePages((url) => seedPages(url, BREAK));

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

/** Its main docs have failed for 39 hours, its pdf for half an hour. */
const TWO = `
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select '5' || place, date_trunc('second', now() at time zone 'utc') - ago, 'finished', good, kind, '1', '1', now(), now(), ''
  from (values (1, 'html', interval '39 hours 5 minutes', false), (2, 'html', interval '20 hours', false), (3, 'pdf', interval '4 days', true),
    (4, 'pdf', interval '31 minutes', false)) as built (place, kind, ago, good);
  update mirror.builds set success = false where id = '1001'`;

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

/** Beside a break an hour ago, a build of three days ago that failed, and names a project that the mirror lacks. */
const LOST = `${BREAK};
  insert into mirror.builds (id, date, state, success, type, first_seen_at, changed_at, record_hash)
  values ('7001', date_trunc('second', now() at time zone 'utc') - interval '3 days', 'finished', false, 'html', now(), now(), '');
  insert into mirror.unresolved_references (resource, record_id, field, position, uri, status)
  values ('build', '7001', 'project', 0, '/api/v1/project/901/', 'gone'), ('build', '7001', 'version', 0, '/api/v1/version/901/', 'gone')`;

/** The version that broke an hour ago is deleted since. */
const DELETED = `${BREAK};
  update mirror.versions set deleted_at = now() where id = '1'`;

/** Five builds failed half an hour ago, and one in all the weeks before. */
const RARE = `${built("'1'")};
  update mirror.builds set success = true where not success and id <> '1004' and id not like 'late%'`;

const seeded = (more: string) => (url: string) => seedPages(url, more);
const NOTHING_KNOWN = ["/", "/trends", "/projects", "/errors", "/?why=memory", "/project/pip"];
const WORLDS: readonly GoldenWorld[] = [
  {
    of: "a break an hour ago",
    pages,
    paths: ["/", "/?show=worked&why=dependency", "/?show=never", "/?why=dependncy", "/?page=9"],
  },
  { of: "more than a phone shows", fill: seeded(MORE), paths: ["/"] },
  {
    of: "nineteen projects in an hour, which are too few to tell",
    fill: seeded(built("null")),
    paths: ["/"],
  },
  { of: "twenty projects in an hour", fill: seeded(built("'1'")), paths: ["/"] },
  { of: "a mirror that knows nothing", paths: NOTHING_KNOWN },
];

describe("the page of now", () => {
  it("has the words of its golden file", async () => {
    await expectGolden("now.golden.txt", WORLDS);
    const page = await pages.page("/");
    expect(page).toMatch(/<link rel="icon" href="data:[^"]*b27100/);
    expect(page).toContain('<link rel="alternate" type="application/atom+xml"');
  });

  it.each([
    ["60", "60"],
    ["1", "10"],
    ["99999", "3600"],
    ["soon", null],
    ["-5", null],
    ["", null],
  ])("asks again where the address of a wall's screen says %j: after %s seconds", async (given, sent) => {
    const reply = await pages.get(`/?refresh=${given}`);
    expect(reply.headers.get("refresh")).toBe(sent);
    expect((await reply.text()).includes("Asks again every")).toBe(sent !== null);
  });

  it("keeps one filter when the other is chosen", async () => {
    const page = await pages.page("/?show=worked&why=dependency");
    const bar = blockOf(page, "failing").split('<div class="bar">')[1]?.split("</div>")[0] ?? "";
    expect(bar).toContain('href="/?show=worked&amp;why=dependency" aria-current="true"');
    expect(bar).toContain('<input type="hidden" name="show" value="worked">');
  });

  it("has a project where its newest break is, and says what is older and worse", async () => {
    await using served = await openMirrorPages(seeded(TWO));
    const page = await served.page("/");
    const [first = ""] = blockOf(page, "failing").match(/<li>\n<span class="when">.*?<\/svg>\n<\/li>/s) ?? [];
    expect(textOf(first)).toMatch(/^\s*3[01] min\s*main docs failing\s*pip\s*latest · pdf\s/);
    // In the paragraph of the reason: the first line of a row is cut where a wide page has no room for it.
    const [why = "", rest = ""] = /<p class="why">(.*?)<\/p>(.*)/s.exec(first)?.slice(1) ?? [];
    expect(textOf(why)).toMatch(/older and worse: main docs, latest · html, for 39 h, 52$/);
    expect(textOf(rest)).toMatch(/^\s*build 54/);
  });

  it("counts the project that the mirror lacks among those that fail, among all, and a day ago", async () => {
    await using served = await openMirrorPages(seeded(LOST));
    expect(mainOf(await served.page("/"))).toMatch(/9 of 9 projects fail, 8 a day ago; 1 project has/);
  });

  it("says of no share of fewer than five failures that it is usual", async () => {
    await using served = await openMirrorPages(seeded(RARE));
    expect(mainOf(await served.page("/"))).toMatch(
      /Of the 5 failed builds, 100 % have an error that no rule names; /,
    );
  });

  it("calls no break fixed whose version is deleted", async () => {
    await using served = await openMirrorPages(seeded(DELETED));
    const main = mainOf(await served.page("/"));
    expect(main).toContain("1 project has a version or format that broke in the last 24 hours");
    expect(main).not.toMatch(/it is fixed|the newest/);
  });

  it("shows ten rows of a long list, and the rest behind a link", async () => {
    await using long = await openMirrorPages(seeded(MORE));
    const [shown = "", rest = ""] = blockOf(await long.page("/"), "failing").split(
      '<div class="rest-rows" id="rest">',
    );
    const rows = (text: string) => text.split('<span class="when">').length - 1;
    expect([rows(shown), rows(rest)]).toEqual([10, 5 + HOSTILE - 10]);
  });
});

describe("the page of now, when nothing is built any more", () => {
  const quiet = usePages((url) => seedPages(url, SILENCE));

  it("says so first, since when and what is usual, and claims nothing of now", async () => {
    const page = await quiet.page("/");
    const main = mainOf(page);
    expect(main).toMatch(/No build since \d+ \w+ \d\d:\d\d\. Usually 31 arrive by now\./);
    expect(page).toContain('<section class="verdict bad"');
    expect(textOf(blockOf(page, "failing"))).toMatch(/Failing at \d+ \w+ \d\d:\d\d \d+ projects/);
    expect(main).not.toContain("Failing now");
    const checked = textOf(blockOf(page, "checked")).replace(/\s+/g, " ");
    expect(checked).toMatch(
      /2 looks since \d+ \w+ \d\d:\d\d, none failed.*1 in progress ?5 h ?1 of them stuck/,
    );
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
