import { describe, expect, it } from "vitest";
import { findMainDays } from "../../../src/page/parts/strips.ts";
import type { TransactionSql } from "../../../src/store/connection/sql.ts";
import { offeredRows } from "../../support/block-offers.ts";
import { rolledBack } from "../../support/database.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, rowsOf, textOf } from "../../support/page-text.ts";
import { expectGolden } from "../../support/page-words.ts";
import { seedPages } from "../../support/served-pages.ts";

/**
 * Beside pip: alpha, whose main docs fail; beta, whose epub fails; twin, which is there twice; lost, whose versions the mirror lacks; none,
 * which was never built; busy, with 70 builds.
 */
const ROWS = `
  insert into mirror.projects (id, slug, name, repo, source, listed, default_version, documentation_type, theme, subdomain, first_seen_at, changed_at, deleted_at, record_hash)
  values
    ('105', 'alpha', 'Alpha docs', 'git://git.example.org/alpha', 'list', true, 'stable', 'docgen', 'nature', 'http//alpha.docs.example.org/', now(), now(), null, ''),
    ('106', 'beta', 'Beta', 'javascript:alert(1)', 'list', true, '', '', null, 'javascript:alert(1)', now(), now(), null, ''),
    ('108', 'twin', 'First twin', null, 'list', true, 'latest', null, null, null, now() - interval '9 days', now(), now() - interval '75 hours', ''),
    ('109', 'twin', 'Second twin', null, 'list', true, 'latest', null, null, null, now() - interval '2 days', now(), null, ''),
    ('110', 'lost', 'Lost', null, 'list', true, 'latest', null, null, null, now(), now(), null, ''),
    ('111', 'none', 'None', null, 'list', true, 'latest', null, null, null, now(), now(), null, ''),
    ('112', 'busy', 'Busy', null, 'list', true, 'latest', null, null, null, now(), now(), null, '');
  insert into mirror.versions (id, slug, active, project_id, first_seen_at, changed_at, record_hash)
  select project || slug, slug, slug = 'latest', project::text, now(), now(), ''
  from generate_series(105, 112) as project, unnest(array['latest', 'stable']) as slug
  where project <> 107;
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select id, date_trunc('second', now() at time zone 'utc') - ago::interval, 'finished', success, type, project_id, version_id, now(), now(), ''
  from (values
    ('5001', '1000 hours', true, 'html', '105', '105stable'), ('5002', '3910 minutes', false, 'html', '105', '105stable'),
    ('5003', '2000 minutes', false, 'html', '105', '105stable'), ('5004', '1590 minutes', true, 'pdf', '105', '105latest'),
    ('5005', '1830 minutes', false, 'pdf', '105', '105latest'), ('5006', '6 days', false, 'epub', '105', '105latest'),
    ('6001', '4 days', true, 'html', '106', '106latest'), ('6003', '50 hours', false, 'epub', '106', '106stable'),
    ('8001', '6 days', false, 'html', '108', '108latest'), ('9001', '1 day', true, 'html', '109', '109latest'),
    ('11001', '6 days', false, 'html', '110', null), ('11002', '5 days', true, 'html', '110', null)
  ) as of (id, ago, success, type, project_id, version_id);
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select (20000 + n)::text, date_trunc('second', now() at time zone 'utc') - n * interval '1 day', 'finished', n > 30, 'html', '112', '112latest', now(), now(), ''
  from generate_series(1, 70) as n;
  insert into mirror.build_logs (build_id, error) select id, 'ModuleNotFoundError: No module named kiln' from mirror.builds where id in ('5002', '5003');
  insert into mirror.build_logs (build_id, error)
  select (20000 + n)::text, 'Warning, treated as error: docs/api/page' || n % 3 || '.rst:' || n || ': no toctree' from generate_series(1, 4) as n;
  insert into mirror.build_logs (build_id, error) values ('5005', '! LaTeX Error: File sandal.sty not found.');
  insert into mirror.unresolved_references (resource, record_id, field, position, uri, status)
  values ('build', '11001', 'version', 0, '/api/v1/version/901/', 'gone'), ('build', '11002', 'version', 0, '/api/v1/version/902/', 'gone');
`;

const pages = usePages((url) => seedPages(url, ROWS));

const verdictOf = (page: string): string =>
  textOf(page.split('<section class="verdict')[1]?.split("</section>")[0] ?? "");
const failsOf = (page: string): string[] =>
  blockOf(page, "failing").split('<span class="when">').slice(1).map(textOf);
const stripOf = (page: string): string[] =>
  [...blockOf(page, "builds").matchAll(/<li><a class="(\w+)" href="\/build\/(\w+)"/g)].map(
    ([, kind, id]) => `${id} ${kind}`,
  );

describe("the verdict of a project", () => {
  it("says first that the main docs fail, since when, why, and which build was good", async () => {
    const page = await pages.page("/project/alpha");
    expect(verdictOf(page)).toMatch(/alpha: .* 2 d\./);
    expect(verdictOf(page)).toContain("Missing dependencyModuleNotFoundError: No module named kiln");
    expect(verdictOf(page)).toMatch(/Build 5003\s*Last good: 5001, \d+ \w+ \d\d:\d\d/);
    expect(page).toMatch(/<link rel="icon" href="data:[^"]*cf3f2e/);
    expect(page).toContain(
      'type="application/atom+xml" title="What broke and was fixed of alpha" href="/project/alpha/feed.atom"',
    );
  });

  it("keeps good, failing in part, not known and gone apart, in the words of its golden file", {
    tags: ["long"],
  }, async () => {
    const slugs = ["pip", "alpha", "beta", "none", "lost", "twin", "twin?id=108"];
    const none = ["alpha?version=stabel&type=html", "busy?page=7", "alhpa"];
    const paths = [...slugs, ...none].map((path) => `/project/${path}`);
    await expectGolden(pages, "project.golden.txt", paths);
    expect(verdictOf(await pages.page("/project/beta"))).toMatch(/stable · epub\s*Other error/);
    expect(mainOf(await pages.page("/project/none"))).not.toMatch(/none found|good/i);
  });

  it("compares the last 30 builds with those before, and says whether that is chance", async () => {
    const verdict = verdictOf(await pages.page("/project/busy"));
    expect(verdict).toMatch(/Succeeded, last 30 finished builds0 % 0 of 30/);
    expect(verdict).toMatch(/down 100\.0 points on the 30 before · /);
    expect(verdict).toMatch(/Builds, last 7 days\s*[67]\s*7 in the 7 days before; 70 since/);
    expect(verdictOf(await pages.page("/project/alpha"))).not.toContain("points");
  });
});

describe("the builds of a project", () => {
  it("are thirty links with signs, the newest at the right, and lead on to those before", async () => {
    const page = await pages.page("/project/busy");
    const strip = stripOf(page);
    expect(strip).toHaveLength(30);
    expect(strip.at(-1)).toBe("20001 bad");
    expect(blockOf(page, "builds")).toContain("20001 failed, latest · html, ");
    const second = await pages.page("/project/busy?page=2");
    expect(stripOf(second).at(-1)).toBe("20031 good");
    expect(blockOf(second, "builds")).toMatch(/href="\/project\/busy\?page=3#builds">The 10 builds before/);
  });

  it("are those of one version and format where the reader chooses it", async () => {
    const page = await pages.page("/project/alpha?version=latest&type=pdf");
    expect(stripOf(page)).toEqual(["5005 bad", "5004 good"]);
    const chosen =
      'href="/project/alpha?version=latest&amp;type=pdf#builds" aria-current="true">latest · pdf';
    expect(blockOf(page, "builds")).toContain(chosen);
    const stable = stripOf(await pages.page("/project/alpha?version=stable&type=html"));
    expect(stable).toEqual(["5001 good", "5002 bad", "5003 bad"]);
  });
});

describe("what fails of a project", () => {
  it("has its main docs first, each with its cause, its build, the last good one and its strip", async () => {
    const fails = failsOf(await pages.page("/project/alpha"));
    expect(fails).toHaveLength(2);
    expect(fails[0]).toMatch(/2 d\s*main docs failing\s*stable · html\s*main docs\s*not active/);
    expect(fails[0]).toMatch(/build 5003, .*, 2 failures in a row · last good 5001, 38 d before/);
    expect(fails[0]).toContain("the last 3 of stable · html: 1 succeeded, 2 failed; the newest: failed");
    expect(fails[1]).toMatch(/latest · epub[\s\S]*its first known build/);
  });

  it("keeps unknown versions apart by what builds call them", { tags: ["long"] }, async () => {
    const page = await pages.page("/project/lost");
    expect(failsOf(page)).toHaveLength(1);
    expect(failsOf(page)[0]).toContain("named /api/v1/version/901/");
    expect(Object.keys(await offeredRows(pages, page))).toHaveLength(8);
    const rows = rowsOf(page, "versions");
    const nameOf = (id: number) => `version not known · htmlnamed /api/v1/version/${id}/`;
    expect(rows.map(([name]) => name)).toEqual([901, 902].map(nameOf));
    expect(rows.map(([, state]) => state)).toEqual(["failedfails", "succeededgood"]);
    const [, href = ""] = /href="([^"]*902[^"]*)#builds"/.exec(blockOf(page, "versions")) ?? [];
    expect(stripOf(await pages.page(href.replaceAll("&amp;", "&")))).toEqual(["11002 good"]);
  });

  it("says why, by kinds and lines with the newest build, and since when it counts", async () => {
    const text = textOf(blockOf(await pages.page("/project/alpha"), "causes"));
    expect(text).toMatch(/Why it failed 4 failed builds[\s\S]*Of all its builds, since/);
    expect(text).toMatch(
      /Missing dependency2\s*ModuleNotFoundError: No module named kiln2 builds, last 5003, 33/,
    );
    expect(text).toContain("LaTeX error1");
    // The line that is shown is not that of all builds which failed with the same error.
    const busy = textOf(blockOf(await pages.page("/project/busy"), "causes"));
    expect(busy).toMatch(/docs\/api\/page1\.rst:1: no toctree4 builds in 4 places, last 20001, 2[34].h/);
  });

  it("says what was fixed and how long it was broken", async () => {
    const fixed = textOf(blockOf(await pages.page("/project/alpha"), "fixed"));
    expect(fixed).toMatch(/Fixed 1\D[\s\S]*latest · pdf26 hbroken for 4 h · LaTeX error/);
  });
});

describe("more about a project", () => {
  it("has ninety days of its main docs, each with its words, and their rate", async () => {
    const block = blockOf(await pages.page("/project/busy"), "days");
    // Nothing is known of the days before the first build, and today has none.
    expect(block).toContain(
      "90 days of the main docs of busy: only successes on 40, failures on 30, no builds on 1, not known on 19",
    );
    // The whole strip is drawn: dotted where nobody knows, a line where somebody looked.
    expect(block).toContain(`<path class="axis dotted" d="M0 11${"h3".repeat(19)}"/>`);
    expect(block).toContain(`<path class="axis" d="M57 11${"h3".repeat(71)}"/>`);
    // The number stands before the picture.
    expect(textOf(block)).toMatch(/57 %.*40 of 70.*90 days of the main docs/s);
    const titles = [...block.matchAll(/<title>(\d[^:]*): ([^<]*)<\/title><\/rect>/g)].map(
      ([, , told]) => told,
    );
    expect(titles).toHaveLength(90);
    expect([titles[0], titles[19], titles.at(-2), titles.at(-1)]).toEqual([
      "not known",
      "1 of 1 finished build succeeded",
      "0 of 1 finished build succeeded",
      "no builds",
    ]);
  });

  it("counts no other version or format among its main docs, and no build that has not finished", async () => {
    const alpha = textOf(blockOf(await pages.page("/project/alpha"), "days"));
    expect(alpha).toMatch(/1 of 3.*only successes on 1, failures on 2, /s);
    expect(textOf(blockOf(await pages.page("/project/pip"), "days"))).toMatch(/75 %.*30 of 40/s);
    expect(blockOf(await pages.page("/project/lost"), "days")).toContain("No builds");
    await rolledBack(pages.sql, async (sql) => {
      const finished = async () =>
        (await findMainDays(sql as unknown as TransactionSql, ["106"], new Date()))("106").finished;
      expect(await finished()).toBe(1);
      await sql`update rollup.builds set version_id = '106stable' where build_id = '6001'`;
      expect(await finished()).toBe(0);
    });
  });

  it("shows its facts, and leads to its documentation; what is no web address is no link", async () => {
    const alpha = await pages.page("/project/alpha");
    expect(alpha).toContain(
      '"http://alpha.docs.example.org/" rel="noreferrer nofollow">Documentation upstream',
    );
    expect(textOf(blockOf(alpha, "facts"))).toMatch(
      /NameAlpha docsMain docsstable · htmlMade withdocgenThemenatureRepositorygit:\/\/git\.example\.org\/alpha/,
    );
    const beta = await pages.page("/project/beta");
    expect(beta).not.toMatch(/href="javascript/i);
    expect(textOf(blockOf(beta, "facts"))).toContain("Repositoryjavascript:alert(1)");
  });

  it("lists its versions with their states and rates", async () => {
    const rows = rowsOf(await pages.page("/project/alpha"), "versions");
    const names = ["stable · html main docs not active", "latest · epub", "latest · pdf"];
    expect(rows.map(([name]) => name)).toEqual(names);
    expect(rows.map(([, state]) => state)).toEqual(["failedfails", "failedfails", "succeededgood"]);
    expect(rows[2]?.join(" ")).toMatch(/50 %1 of 2 26 h/);
  });
});

describe("two projects of one slug", () => {
  it("are said to be two, and are not added up; the one that the service has comes first", async () => {
    const page = await pages.page("/project/twin");
    expect(textOf(blockOf(page, "twins"))).toMatch(
      /2 projects have this slug[\s\S]*Second twin, id 109 \(shown here\)the service has it[\s\S]*First twin, id 108gone since 3 d/,
    );
    expect(verdictOf(page)).toContain("twin is good");
    expect(stripOf(page)).toEqual(["9001 good"]);
    const other = await pages.page("/project/twin?id=108");
    expect(stripOf(other)).toEqual(["8001 bad"]);
    expect(blockOf(other, "builds")).toContain('href="/project/twin?id=108#builds"');
    expect(stripOf(await pages.page("/project/twin?id=105"))).toEqual(["9001 good"]);
  });
});
