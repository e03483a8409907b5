import { afterAll, describe, expect, it } from "vitest";
import { grantReader, planReaderGrant } from "../../../src/report/grant-reader.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { blockOf, expectHarmless, headingOf, saysOf, textOf } from "../../support/page-text.ts";
import { roleName } from "../../support/roles.ts";
import { type ServedPages, seedPages, servePages } from "../../support/served-pages.ts";

const role = roleName();
const EVIL = "<script>alert(1)</script>";
/**
 * A project that fails; ada and a hostile name maintain it, bob is deleted, and one user is not in the mirror. Ada had another one that is
 * gone, and so is all that cleo had.
 */
const ROWS = `
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
  values ('700', 'kiln', 'Kiln', 'list', true, now(), now(), ''), ('701', 'lone', 'Lone', 'list', true, now(), now(), '');
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, deleted_at, record_hash)
  values ('702', 'past', 'Past', 'list', true, now(), now(), now(), '');
  insert into mirror.users (id, username, first_name, first_seen_at, changed_at, deleted_at, record_hash)
  values ('71', 'ada', 'Ada', now(), now(), null, ''), ('72', 'bob', 'Bob', now(), now(), now(), ''),
    ('73', '${EVIL}', '', now(), now(), null, ''), ('74', 'cleo', 'Cleo', now(), now(), null, '');
  insert into mirror.project_users (project_id, position, user_uri, user_id)
  values ('700', 1, '/api/v1/user/71/', '71'), ('700', 0, '/api/v1/user/73/', '73'), ('700', 2, '/api/v1/user/72/', '72'),
    ('700', 3, '/api/v1/user/99/', null), ('702', 0, '/api/v1/user/71/', '71'), ('702', 1, '/api/v1/user/74/', '74');
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  values ('7001', 'latest', '700', now(), now(), ''), ('7011', 'latest', '701', now(), now(), '');
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select 'k' || project, now() at time zone 'utc' - interval '2 hours', 'finished', false, 'html', project, project || '1', now(), now(), ''
  from unnest(array['700', '701']) as project;
`;

const pages = usePages((url) => seedPages(url, ROWS));
afterAll(() => pages.sql.unsafe(`drop owned by ${role}; drop role ${role}`));

const grant = async (withPeople: boolean) =>
  grantReader(pages.sql, await planReaderGrant(pages.sql, role, { withPeople, withInterface: true }));

async function asReader(fn: (served: ServedPages) => Promise<void>): Promise<void> {
  const url = new URL(pages.databaseUrl);
  url.searchParams.set("role", role);
  await using served = await servePages(url.href);
  await fn(served);
}

describe("who maintains a project", () => {
  it("is in report_people.failing_projects, beside all that report.failing_projects says", async () => {
    const rows = await pages.sql`select maintainers from report_people.failing_projects
        where project_id in ('700', '701') order by project_id`;
    expect(rows.map(({ maintainers }) => maintainers)).toEqual([[EVIL, "ada"], null]);
    const [same] =
      await pages.sql`select count(*) = (select count(*) from report.failing_projects) as is_same,
        count(*) filter (where report.project_id is null) as others
      from report_people.failing_projects as own
      left join report.failing_projects as report on to_jsonb(own) - 'maintainers' = to_jsonb(report)`;
    expect(same).toEqual({ is_same: true, others: 0 });
  });

  it("is shown now and on the page of the project where the role may see people", async () => {
    await grant(true);
    await asReader(async (served) => {
      const now = await served.page("/");
      expect(textOf(blockOf(now, "failing"))).toMatch(/maintained by <script>alert\(1\)<\/script>, ada/);
      expectHarmless(now, "/");
      expect(blockOf(now, "failing")).toContain('<a href="/projects?maintainer=ada">');
      expect(blockOf(await served.page("/project/kiln"), "facts")).toContain(
        '<a href="/projects?maintainer=ada">',
      );
      const factsOf = async (slug: string) => textOf(blockOf(await served.page(`/project/${slug}`), "facts"));
      expect(await factsOf("kiln")).toContain(`Maintained by${EVIL}, ada`);
      expect(await factsOf("lone")).toContain("Maintained bynot known");
    });
  });

  it("narrows Projects and Now to what one of them maintains, and their files", async () => {
    await grant(true);
    await asReader(async (served) => {
      for (const [path, block] of [
        ["/projects", "projects"],
        ["/", "failing"],
      ] as const) {
        const named = await served.page(`${path}?maintainer=ADA`);
        expect(textOf(blockOf(named, block))).toMatch(/Only what ADA maintains\. All projects/);
        expect(named.match(/href="\/project\/kiln"/)).not.toBeNull();
        expect(blockOf(named, block)).not.toContain('href="/project/lone"');
        expect(textOf(blockOf(await served.page(`${path}?maintainer=nobody`), block))).toContain(
          "Nobody with the name",
        );
      }
      const hers = await served.page("/projects?maintainer=ada");
      expect(headingOf(hers)).toBe("None of 1 project of ada is good.");
      expect(hers).toContain("<title>✗ Projects of ada · docmirror</title>");
      expect(saysOf(hers)).toMatch(/^1 with failing main docs\. Good means/);
      expect(textOf(blockOf(hers, "projects"))).toMatch(/Projects of ada\s+1.*All 1/s);
      const none = await served.page("/projects?maintainer=ada&q=nosuch");
      expect(headingOf(none)).toBe(headingOf(hers));
      expect(none).toMatch(/acts-inline">.*<a href="\/projects\?maintainer=ada">[^<]*project/);
      expect(headingOf(await served.page("/projects?maintainer=nobody"))).toContain("Nobody with the name");
      expect(hers).toMatch(/<label[^>]*>Project, maintainer or build/);
      const file = await (await served.get("/files/now/failing.json?maintainer=ada")).text();
      expect(JSON.parse(file)).toMatchObject([{ project_slug: "kiln" }]);
      const found = await served.page("/projects?q=ada");
      expect(found).toContain('<a href="/projects?maintainer=ada">');
      expect(textOf(found)).toMatch(/ada maintains 1 project\./);
      expect(await served.page("/projects?q=cleo")).not.toContain("maintainer=cleo");
      expect(headingOf(await served.page("/projects?maintainer=cleo"))).toBe(
        "The service has no project any more that cleo maintains.",
      );
    });
  });

  it("is asked for in vain where the role may not see people", async () => {
    await grant(false);
    await asReader(async (served) => {
      expect(blockOf(await served.page("/?maintainer=ada"), "failing")).not.toContain('href="/project/kiln"');
      expect(await served.page("/projects?maintainer=ada")).not.toContain('href="/project/kiln"');
      expect(textOf(await served.page("/projects?maintainer=ada"))).toContain("may not be seen here");
    });
  });

  it("is not, and nothing says that there is more, where it may not", async () => {
    await grant(false);
    await asReader(async (served) => {
      for (const path of ["/", "/project/kiln"])
        expect(await served.page(path)).not.toMatch(/maintained|ada\b/i);
    });
  });

  it("is in no file of the page, whoever serves it", async () => {
    const reports = ["csv", "json"].map((format) => `/report/failing_projects.${format}`);
    for (const path of [...reports, "/project/kiln/feed.atom"])
      expect(await (await pages.get(path)).text()).not.toMatch(/\bada\b/);
  });
});
