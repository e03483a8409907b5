import { afterEach, describe, expect, it } from "vitest";
import { withTestSql } from "../../support/database.ts";
import { HELD } from "../../support/leases.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { headingOf } from "../../support/page-text.ts";
import { expectGolden, type GoldenWorld } from "../../support/page-words.ts";
import { refreshPages, seedPages } from "../../support/served-pages.ts";

/** A sync that began 100 s ago, or as long ago as is said, with a page of each list a second ago. */
const beginSync = (walks: string, status = "running", ago = "100 s") => `${HELD("run")}
  insert into sync.runs (term, kind, status, started_at, finished_at, heartbeat_at, pid, host, error)
    select 1, 'full', '${status}', now() - interval '${ago}', case '${status}' when 'running' then null else now() end, now(), 1, 'test',
      case '${status}' when 'failed' then 'no answer' end;
  insert into sync.walks (run_id, began_run_id, resource, walk, started_at, finished_at, checkpoint_at, checkpoint, records, total_count)
  select 1, 1, resource, walk, now() - interval '${ago}', case when walk is not null then now() - interval '${ago}' + interval '2 s' end,
    case when walk is null then now() - interval '1 s' end, case when walk is null then '{}'::jsonb end, records, total_count
  from (values ${walks}) as of (resource, walk, records, total_count);`;

const HALF = `('user', 'whole', 400, 400), ('project', 'whole', 600, 600), ('version', null, 2000, 3000),
  ('build', null, 7000, 17000), ('file', null, 0, 1000)`;
const NAMES = `
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
  values ('1', 'pip', '<b>Pip</b>', 'list', true, now(), now(), ''), ('2', 'tox', 'tox', 'list', true, now(), now(), '');`;
const PROJECTS_UNREAD = HALF.replace("('project', 'whole', 600, 600)", "('project', null, 2, 600)");
const BUILDS_READ = HALF.replace("('build', null, 7000, 17000)", "('build', 'whole', 17000, 17000)");
const TWO_LISTS = "('user', 'whole', 4, 4), ('project', 'whole', 6, 6)";

const after = (statements: string) => (url: string) =>
  withTestSql(url, async (sql) => void (await sql.unsafe(statements)));
/** As of a program that is started while the sync runs. */
const afterRefresh = (statements: string) => async (url: string) => {
  await refreshPages(url);
  await after(statements)(url);
};
const UNCOMPUTED = "delete from rollup.state;";
const FAILED = "insert into rollup.failed_refresh (failed_at, error) values (now(), 'damaged');";

const WORLDS: readonly GoldenWorld[] = [
  {
    // 10,000 builds at 7,000 in 99 s.
    of: "lists that are half read",
    fill: after(`${beginSync(HALF)} delete from sync.walks where resource = 'file'`),
    paths: ["/", "/trends", "/mirror", "/project/pip"],
  },
  {
    of: "a list that has not been counted yet: no time and no share is promised",
    fill: after(beginSync("('user', 'whole', 400, 400), ('build', null, 0, null)")),
    paths: ["/"],
  },
  {
    of: "a list that goes on with a walk that broke off: no time is promised",
    fill: after(`${beginSync(HALF)} update sync.walks set began_run_id = 0 where resource = 'build'`),
    paths: ["/"],
  },
  {
    of: "builds that are read, in a run that is not over",
    fill: afterRefresh(beginSync(BUILDS_READ)),
    paths: ["/", "/trends", "/projects", "/mirror"],
  },
  {
    of: "projects that are not read yet",
    fill: after(NAMES + beginSync(PROJECTS_UNREAD)),
    paths: ["/", "/projects"],
  },
  { of: "projects that are read", fill: after(NAMES + beginSync(HALF)), paths: ["/", "/projects"] },
  {
    of: "no page for minutes",
    fill: after(
      `${beginSync(HALF, "running", "10 min")} update sync.walks set checkpoint_at = checkpoint_at - interval '3 min'`,
    ),
    paths: ["/"],
  },
  {
    of: "a sync that was told to read two lists",
    fill: async (url) => {
      await after(NAMES + beginSync(TWO_LISTS, "succeeded"))(url);
      await refreshPages(url);
    },
    paths: ["/", "/projects"],
  },
  { of: "a first sync that failed", fill: after(beginSync(HALF, "failed")), paths: ["/", "/mirror"] },
  {
    of: "a first sync whose process was killed",
    fill: after(`${beginSync(HALF)} update sync.leases set until = '-infinity'`),
    paths: ["/", "/mirror"],
  },
  {
    of: "figures that are not computed yet",
    fill: (url) => seedPages(url).then(() => after(UNCOMPUTED)(url)),
    paths: ["/"],
  },
  {
    of: "figures that could not be computed",
    fill: (url) => seedPages(url).then(() => after(UNCOMPUTED + FAILED)(url)),
    paths: ["/"],
  },
  {
    of: "older figures, where computing them anew failed",
    fill: (url) => seedPages(url).then(() => after(FAILED)(url)),
    paths: ["/"],
  },
];

it("the pages have the words of their golden file while the first sync runs, and before the figures are known", () =>
  expectGolden("first-sync.golden.txt", WORLDS));

describe("while the first sync runs, the page", () => {
  const pages = usePages();
  const run = (text: string) => pages.sql.unsafe(text);
  afterEach(() =>
    run(
      "truncate sync.leases, sync.runs, sync.walks, mirror.projects restart identity cascade; delete from rollup.state",
    ),
  );

  it.each([
    ["builds", HALF, "update sync.walks set records = 16000 where resource = 'build'"],
    ["files, behind the builds", BUILDS_READ, "update sync.walks set records = 900 where resource = 'file'"],
  ])("is another one as soon as there are more %s, also within the minute", async (_of, walks, more) => {
    await run(beginSync(walks));
    const before = await pages.page("/");
    await run(more);
    expect(headingOf(await pages.page("/"))).not.toBe(headingOf(before));
  });

  it("renews itself by a header, which a link stops, at its own address", { tags: ["long"] }, async () => {
    await run(beginSync(HALF));
    for (const path of ["/", "/trends", "/mirror", "/project/pip"]) {
      const reply = await pages.get(path);
      expect(reply.headers.get("refresh"), path).toBe("15");
      expect(await reply.text()).toContain(`<a href="${path}?renew=no">Stop that</a>`);
      const stopped = await pages.get(`${path}?renew=no`);
      expect(stopped.headers.get("refresh"), path).toBeNull();
      expect(await stopped.text()).toContain(`<a href="${path}">Renew every 15`);
    }
    const { headers } = await pages.get("/");
    const again = await pages.get("/", { headers: { "if-none-match": headers.get("etag") ?? "" } });
    expect(again.headers.get("refresh")).toBe("15");
  });

  it.each([
    ["where a sync was told to read two lists", beginSync(TWO_LISTS, "succeeded"), null],
    ["in a run that is not over, though the builds are read", beginSync(BUILDS_READ), "15"],
  ])("renews itself %s: after %s", async (_where, statements, seconds) => {
    await run(statements);
    await refreshPages(pages.databaseUrl);
    expect((await pages.get("/")).headers.get("refresh")).toBe(seconds);
  });

  it("is shown as that of its address", { tags: ["long"] }, async () => {
    await refreshPages(pages.databaseUrl);
    await run(beginSync(HALF));
    for (const path of ["/", "/trends", "/projects", "/errors", "/mirror"])
      expect(await pages.page(path), path).toMatch(new RegExp(`<a href="${path}" aria-current="page">`));
    expect(await pages.page("/project/pip")).toContain('<a href="/projects" aria-current="page">');
    const ids = (await pages.page("/mirror")).match(/ id="[^"]*"/g);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

describe("before the figures are computed, the page", () => {
  const pages = usePages(seedPages);

  it("renews itself behind a run that has just ended, unless computing them failed", async () => {
    await pages.sql.unsafe(UNCOMPUTED);
    expect((await pages.get("/")).headers.get("refresh")).toBeNull();
    await pages.sql`update sync.runs set finished_at = now() where kind = 'full'`;
    expect((await pages.get("/trends")).headers.get("refresh")).toBe("15");
    await pages.sql.unsafe(FAILED);
    expect((await pages.get("/")).headers.get("refresh")).toBeNull();
  });
});
