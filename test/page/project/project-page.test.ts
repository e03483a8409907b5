import { describe, expect, it } from "vitest";
import { findMainDays } from "../../../src/page/parts/strips.ts";
import type { TransactionSql } from "../../../src/store/connection/sql.ts";
import { offeredRows } from "../../support/block-offers.ts";
import { rolledBack } from "../../support/database.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { blockOf } from "../../support/page-text.ts";
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

const stripOf = (page: string): string[] =>
  [...blockOf(page, "builds").matchAll(/<li><a class="(\w+)" href="\/build\/(\w+)"/g)].map(
    ([, kind, id]) => `${id} ${kind}`,
  );

const SLUGS = ["pip", "alpha", "beta", "none", "lost", "twin", "twin?id=108", "busy"];
const CHOICES = ["alpha?version=latest&type=pdf", "alpha?version=stabel&type=html", "busy?page=7", "alhpa"];

describe("the page of a project", () => {
  it("has the words of its golden file: good, failing in part, not known and gone are apart", async () => {
    const paths = [...SLUGS, ...CHOICES].map((path) => `/project/${path}`);
    await expectGolden("project.golden.txt", [{ of: "projects of every state", pages, paths }]);
    const alpha = await pages.page("/project/alpha");
    expect(alpha).toMatch(/<link rel="icon" href="data:[^"]*cf3f2e/);
    expect(alpha).toContain(
      'type="application/atom+xml" title="What broke and was fixed of alpha" href="/project/alpha/feed.atom"',
    );
    expect(await pages.page("/project/beta")).not.toMatch(/href="javascript/i);
  });

  it.each([
    ["alpha?version=latest&type=pdf", ["5005 bad", "5004 good"]],
    ["alpha?version=stable&type=html", ["5001 good", "5002 bad", "5003 bad"]],
    ["twin", ["9001 good"]],
    ["twin?id=108", ["8001 bad"]],
    ["twin?id=105", ["9001 good"]],
  ])("%s has the builds %j, the newest at the right", async (path, builds) => {
    expect(stripOf(await pages.page(`/project/${path}`))).toEqual(builds);
  });

  it("has thirty builds, and leads on to those before", async () => {
    const first = stripOf(await pages.page("/project/busy"));
    expect([first.length, first.at(-1)]).toEqual([30, "20001 bad"]);
    const page = await pages.page("/project/busy?page=2");
    expect(stripOf(page).at(-1)).toBe("20031 good");
    expect(blockOf(page, "builds")).toMatch(/href="\/project\/busy\?page=3#builds">The 10 builds before/);
  });

  it("keeps unknown versions apart by what builds call them", { tags: ["long"] }, async () => {
    const page = await pages.page("/project/lost");
    expect(Object.keys(await offeredRows(pages, page))).toHaveLength(8);
    const [, href = ""] = /href="([^"]*902[^"]*)#builds"/.exec(blockOf(page, "versions")) ?? [];
    expect(stripOf(await pages.page(href.replaceAll("&amp;", "&")))).toEqual(["11002 good"]);
  });

  it("draws ninety days of its main docs, each with its words", async () => {
    const block = blockOf(await pages.page("/project/busy"), "days");
    expect(block).toContain("only successes on 40, failures on 30, no builds on 1, not known on 19");
    // The whole strip is drawn: dotted where nobody knows, a line where somebody looked.
    expect(block).toContain(`<path class="axis dotted" d="M0 11${"h3".repeat(19)}"/>`);
    expect(block).toContain(`<path class="axis" d="M57 11${"h3".repeat(71)}"/>`);
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

  it("counts no other version or format among its main docs", async () => {
    await rolledBack(pages.sql, async (sql) => {
      const finished = async () =>
        (await findMainDays(sql as unknown as TransactionSql, ["106"], new Date()))("106").finished;
      expect(await finished()).toBe(1);
      await sql`update rollup.builds set version_id = '106stable' where build_id = '6001'`;
      expect(await finished()).toBe(0);
    });
  });
});
