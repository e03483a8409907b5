import { beforeEach, describe, expect, it } from "vitest";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { listMutedProjects, muteProject } from "../../src/store/ledger/muted-projects.ts";
import { REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { useNotices } from "./noted.ts";

/** A build: its id, the hour of 2026-03-10 at which it was triggered, and how it ended. */
interface Build {
  id: string;
  hour: number;
  success: boolean | null;
  version?: string;
  type?: string;
  error?: string;
}

const at = (hour: number) => new Date(Date.parse("2026-03-10T00:00:00Z") + hour * 3_600_000).toISOString();

const { database, sql, look: lookAt } = useNotices();

/** Project 1 with the versions `latest` and `stable`. */
beforeEach(async () => {
  await sql`
    insert into mirror.projects (id, slug, name, default_version, source, listed, first_seen_at, changed_at, record_hash)
    values ('1', 'pip', 'Pip', null, 'list', true, now(), now(), '')`;
  await sql`
    insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
    values ('latest', 'latest', '1', now(), now(), ''), ('stable', 'stable', '1', now(), now(), '')`;
});

const refresh = () => refreshReport(database.sql, REPORT_SETTINGS);

async function run(...builds: Build[]): Promise<void> {
  const [{ id: runId = 0 } = {}] = await sql<{ id: number }[]>`
    insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
    values ('incremental', 'succeeded', ${at(0)}, ${at(0)}, now(), 1, 'test') returning id`;
  await sql`
    insert into sync.walks (run_id, resource, walk, started_at, finished_at)
    values (${runId}, 'build', ${runId === 1 ? "whole" : "head"}, ${at(0)}, ${at(0)})`;
  for (const { id, hour, success, version = "latest", type = "html", error } of builds) {
    await sql`
      insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash,
        first_seen_run_id, changed_run_id)
      values (${id}, ${at(hour)}::timestamptz at time zone 'UTC', ${success === null ? "building" : "finished"}, ${success}, ${type},
        '1', ${version}, ${at(hour)}, ${at(hour)}, '', ${runId}, ${runId})
      on conflict (id) do update set state = excluded.state, success = excluded.success, changed_run_id = excluded.changed_run_id`;
    if (error)
      await sql`insert into mirror.build_logs (build_id, error) values (${id}, ${error}) on conflict do nothing`;
  }
  await refresh();
}

/** Looks once, at an hour of the same day. Gives the subjects of what came. */
async function look(hour = 24, projects: readonly string[] | null = null): Promise<string[]> {
  const noted = await lookAt({ staleAfterMs: 1e12, now: at(hour) }, { types: null, projects });
  const turns = noted.filter(({ type }) => type.startsWith("project."));
  return turns.map(({ subject }) => subject.replace("project/1/", ""));
}

const ended =
  (success: boolean) =>
  (id: string, hour: number, rest: Partial<Build> = {}): Build => ({ id, hour, success, ...rest });
const [good, bad] = [ended(true), ended(false)];

describe("an id that was given to another build", () => {
  it("breaks the project once more", async () => {
    await run(good("100", 1));
    await look();
    await run(bad("101", 2));
    expect(await look()).toEqual(["broke/101"]);
    await sql`update mirror.builds set date = date + interval '2 hours', life = 2 where id = '101'`;
    await run(good("102", 3), bad("101", 4));
    // The break of the other build is over, since that one is gone.
    expect(await look()).toEqual(["recovered/101/2", "broke/101/2"]);
  });
});

describe("a project that nobody wants to hear of", () => {
  it("is noted only where its slug is one of those, or fits a pattern", async () => {
    await run(good("100", 1));
    await look();
    await run(bad("101", 2));
    expect(await look(24, ["docs-*", "pi", "p_p"])).toEqual([]);
    // What was left out is no news later.
    expect(await look()).toEqual([]);
    await run(good("102", 3));
    expect(await look(24, ["docs-*", "p*"])).toEqual(["recovered/102"]);
  });

  it("is not noted while it is muted", async () => {
    await run(good("100", 1));
    await look();
    await muteProject(sql, "pip", 3_600_000);
    await run(bad("101", 2));
    expect(await look()).toEqual([]);
    await sql`update sync.muted_projects set until = now()`;
    await run(good("102", 3));
    expect(await look()).toEqual(["recovered/102"]);
    expect(await listMutedProjects(sql)).toEqual([]);
  });
});

/** How the breaks ended that were noted, oldest first. */
const ends = async () => {
  const rows = await sql<{ ended: string; summary: string }[]>`
    select data ->> 'ended' as ended, data ->> 'summary' as summary from sync.notices where type = 'project.recovered' order by id`;
  return rows.map(({ ended, summary }) => `${ended}: ${summary}`);
};

/** A mirror in which build 101 broke the project, and that was noted. */
async function breakIt(): Promise<void> {
  await run(good("100", 1));
  await look();
  await run(bad("101", 2));
  expect(await look()).toEqual(["broke/101"]);
}

describe("a break that the service takes back", () => {
  const SINCE = "2026-03-10 02:00 UTC";

  it("is over once the build succeeds after all, and not while it is built again", async () => {
    await breakIt();
    await run({ id: "101", hour: 2, success: null });
    expect(await look()).toEqual([]);
    await run(good("101", 2));
    expect(await look()).toEqual(["recovered/101"]);
    expect(await ends()).toEqual([
      `succeeded: pip is fixed: html of latest succeeded after failures, first at ${SINCE}.`,
    ]);
    await run();
    expect(await look()).toEqual([]);
  });

  it("goes on where the build that is built again fails again", { tags: ["long"] }, async () => {
    await breakIt();
    await run({ id: "101", hour: 2, success: null });
    await look();
    await run(bad("101", 2));
    expect(await look()).toEqual([]);
    await run(good("102", 3));
    expect(await look()).toEqual(["recovered/102"]);
  });

  it("may be given back, and taken back again", { tags: ["long"] }, async () => {
    await breakIt();
    await run(good("101", 2));
    expect(await look()).toEqual(["recovered/101"]);
    const nextRun = async () => (await sql`select max(id) + 1 as id from sync.runs`)[0]?.id;
    const again = await nextRun();
    await run(bad("101", 2));
    expect(await look()).toEqual([`broke/101/${again}`]);
    const last = await nextRun();
    await run(good("101", 2));
    expect(await look()).toEqual([`recovered/101/${last}`]);
  });

  it("goes on where a later build failed too, and is over before the next one where that failed anew", {
    tags: ["long"],
  }, async () => {
    await breakIt();
    await run(bad("102", 3));
    await look();
    await run(good("101", 2));
    expect(await look()).toEqual([]);
    await run(good("102", 3));
    expect(await look()).toEqual(["recovered/102"]);
    await run(bad("103", 4));
    expect(await look()).toEqual(["broke/103"]);
    await run(good("103", 4), bad("104", 5));
    expect(await look()).toEqual(["recovered/103", "broke/104"]);
  });

  it("is over where the failed build is deleted; a failure after it is a break again", {
    tags: ["long"],
  }, async () => {
    await breakIt();
    await sql`update mirror.builds set deleted_at = now() where id = '101'`;
    await run();
    expect(await look()).toEqual(["recovered/101"]);
    expect(await ends()).toEqual([
      `withdrawn: pip does not fail any more: the service took back that html of latest failed at ${SINCE}.`,
    ]);
    await run();
    expect(await look()).toEqual([]);
    await run(bad("102", 3));
    expect(await look()).toEqual(["broke/102"]);
    await run(good("103", 4));
    expect(await look()).toEqual(["recovered/103"]);
  });

  it("is over where its version or its project is deleted", { tags: ["long"] }, async () => {
    await breakIt();
    await sql`update mirror.versions set deleted_at = now() where id = 'latest'`;
    await run();
    expect(await look()).toEqual(["recovered/101"]);
    expect(await ends()).toEqual([
      `deleted: pip does not fail any more: html of latest, which failed since ${SINCE}, was deleted.`,
    ]);
    await sql`update mirror.versions set deleted_at = null`;
    await run(good("102", 3));
    await run(bad("103", 4));
    await look();
    await sql`update mirror.projects set deleted_at = now()`;
    await run();
    expect(await look()).toEqual(["recovered/103"]);
  });

  it("is over where the version is not the default one any more", async () => {
    await breakIt();
    await sql`update mirror.projects set default_version = 'stable'`;
    await run();
    expect(await look()).toEqual(["recovered/101"]);
    expect(await ends()).toEqual([
      `not_main: pip: html of latest, which fails since ${SINCE}, is not its main documentation any more.`,
    ]);
  });

  it("is over whatever its age, and when the project is not muted any more", async () => {
    await breakIt();
    await muteProject(sql, "pip", 3_600_000);
    await run(good("101", 2));
    expect(await look(24 * 30)).toEqual([]);
    await sql`update sync.muted_projects set until = now()`;
    await run();
    expect(await look(24 * 30)).toEqual(["recovered/101"]);
  });
});

describe("a project", () => {
  it("that broke and recovered is noted once each, over any number of refreshes", async () => {
    await run(good("100", 1));
    expect(await look()).toEqual([]);
    await run(bad("101", 2, { error: "fatal: no such\tbranch" }));
    expect(await look()).toEqual(["broke/101"]);
    await run(bad("102", 3));
    await refresh();
    expect(await look()).toEqual([]);
    await run(good("103", 4));
    expect(await look()).toEqual(["recovered/103"]);
    await run(good("104", 5));
    await refresh();
    expect(await look()).toEqual([]);
    const notices = await sql`select type, data from sync.notices order by id`;
    const both = {
      project_id: "1",
      project_slug: "pip",
      type: "html",
      version_id: "latest",
      version_slug: "latest",
      failing_since: "2026-03-10T02:00:00+00:00",
      first_failed_build_id: "101",
    };
    const broke = {
      build_id: "101",
      triggered_at: "2026-03-10T02:00:00+00:00",
      failures: 1,
      error_class: expect.any(String),
      error_line: "fatal: no such branch",
      last_succeeded_build_id: "100",
      last_succeeded_at: "2026-03-10T01:00:00+00:00",
    };
    const fixed = {
      build_id: "103",
      triggered_at: "2026-03-10T04:00:00+00:00",
      failures: 2,
      ended: "succeeded",
    };
    const summaries = [
      "pip broke: html of latest failed: fatal: no such branch",
      "pip is fixed: html of latest succeeded after 2 failures, first at 2026-03-10 02:00 UTC.",
    ];
    expect(notices).toEqual([
      { type: "project.broke", data: { ...both, ...broke, summary: summaries[0] } },
      { type: "project.recovered", data: { ...both, ...fixed, summary: summaries[1] } },
    ]);
  });

  it("that broke and recovered between two looks is noted as both, in that order", async () => {
    await run(good("100", 1));
    await look();
    await run(bad("101", 2), good("102", 3), bad("103", 4));
    expect(await look()).toEqual(["broke/101", "recovered/102", "broke/103"]);
    expect(await look()).toEqual([]);
  });

  it("whose first mirror is full of failures makes no flood", async () => {
    expect(await look()).toEqual([]);
    await run(good("100", 1), bad("101", 2), good("102", 3), bad("103", 4));
    expect(await look()).toEqual([]);
    expect(await look()).toEqual([]);
  });

  it("is noted for the html of its default version alone", { tags: ["long"] }, async () => {
    await run(good("100", 1));
    await look();
    await run(bad("101", 2, { version: "stable" }), bad("102", 2, { type: "pdf" }));
    expect(await look()).toEqual([]);
    await sql`update mirror.projects set default_version = 'stable'`;
    await run(bad("103", 3, { version: "stable" }), bad("104", 3));
    // It was failing before it became the default, so this is no break.
    expect(await look()).toEqual([]);
    await run(good("105", 4, { version: "stable" }));
    expect(await look()).toEqual(["recovered/105"]);
  });

  it("that is deleted is left out", async () => {
    await run(good("100", 1));
    await look();
    await sql`update mirror.projects set deleted_at = now()`;
    await run(bad("101", 2));
    expect(await look()).toEqual([]);
  });

  it("is not noted again when an older failure comes to light", { tags: ["long"] }, async () => {
    await run(good("100", 1));
    await look();
    await run(bad("103", 5));
    expect(await look()).toEqual(["broke/103"]);
    await run(bad("102", 4));
    expect(await look()).toEqual([]);
    await run(good("105", 8));
    expect(await look()).toEqual(["recovered/105"]);
    await run(good("104", 7));
    expect(await look()).toEqual([]);
  });

  it("is not said to recover by an old success, nor to break by an old failure", {
    tags: ["long"],
  }, async () => {
    await run(good("100", 1));
    await look();
    await run(bad("102", 4), bad("104", 6));
    expect(await look()).toEqual(["broke/102"]);
    // It still fails, by build 104.
    await run(good("103", 5));
    expect(await look()).toEqual([]);
    await run(good("106", 8));
    expect(await look()).toEqual(["recovered/106"]);
    // It still succeeds.
    await run(bad("105", 7));
    expect(await look()).toEqual([]);
  });

  it("is not noted again when its records are stored again or the reports are computed anew", {
    tags: ["long"],
  }, async () => {
    const old = [good("100", 1), bad("101", 2)];
    await run(...old);
    await look(27);
    await run(good("102", 4), bad("103", 5));
    expect(await look(27)).toEqual(["recovered/102", "broke/103"]);
    await run(...old, good("102", 4), bad("103", 5));
    await sql`update rollup.state set definition = 'another'`;
    await run();
    expect(await look(27)).toEqual([]);
  });

  it("is noted when a build that was open at the last look has failed", async () => {
    await run(good("100", 1));
    await look();
    await run({ id: "101", hour: 2, success: null });
    expect(await look()).toEqual([]);
    await run({ id: "101", hour: 2, success: false });
    expect(await look()).toEqual(["broke/101"]);
  });

  it("is not noted for what happened more than a week ago, or is dated beyond tomorrow", async () => {
    await run(good("100", 1));
    await look();
    await run(bad("101", 2));
    expect(await look(24 * 8 + 3)).toEqual([]);
  });

  it("is noted after any number of others, a hundred at a time", { tags: ["long"] }, async () => {
    await run(good("100", 1));
    await look();
    await run(...Array.from({ length: 130 }, (_, n) => (n % 2 ? good : bad)(String(200 + n), 2 + n / 10)));
    const sizes = [await look(), await look(), await look()].map(({ length }) => length);
    expect(sizes).toEqual([100, 30, 0]);
    await sql`delete from sync.notices`;
    expect(await look()).toEqual([]);
  });

  it("has a short notice, whatever it is called", async () => {
    await sql`update mirror.projects set slug = ${'\u0001"\\❤'.repeat(2000)}, name = 'x'`;
    await run(good("100", 1));
    await look();
    await run(bad("101", 2, { error: `Error: ${'\u0001"\\❤'.repeat(2000)}` }));
    expect(await look()).toEqual(["broke/101"]);
    const [notice] = await sql<{ data: { summary: string } }[]>`select data from sync.notices`;
    expect(Buffer.byteLength(JSON.stringify(notice))).toBeLessThan(20_000);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it must have none
    expect(notice?.data.summary).not.toMatch(/[\u0000-\u001f]/);
  });
});
