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

/** What changed, the builds of a run, and what is noted after it. A project has the versions `latest` and `stable`. */
interface Turn {
  change: string | null;
  builds: Build[];
  noted: string[];
}

const turn = (builds: Build[], noted: string[], change: string | null = null): Turn => ({
  change,
  builds,
  noted,
});
const GOOD = turn([good("100", 1)], []);
const BROKE = turn([bad("101", 2)], ["broke/101"]);
const BUILT_AGAIN = turn([{ id: "101", hour: 2, success: null }], []);
const NOTHING = turn([], []);
const OVER = ["recovered/101"];
const DELETE_VERSION = "update mirror.versions set deleted_at = now() where id = 'latest'";
const DELETE_PROJECT = "update mirror.projects set deleted_at = now()";
const BY_STABLE = "update mirror.projects set default_version = 'stable'";
const onStable = { version: "stable" };
const SINCE = "2026-03-10 02:00 UTC";

type Story = [what: string, turns: Turn[], end?: string];

const STORIES: Story[] = [
  [
    "is over once the build succeeds after all, and not while it is built again",
    [GOOD, BROKE, BUILT_AGAIN, turn([good("101", 2)], OVER), NOTHING],
    `succeeded: pip is fixed: html of latest succeeded after failures, first at ${SINCE}.`,
  ],
  [
    "is over where the version is not the default one any more",
    [GOOD, BROKE, turn([], OVER, BY_STABLE)],
    `not_main: pip: html of latest, which fails since ${SINCE}, is not its main documentation any more.`,
  ],
  [
    "and its end between two looks are noted as both, in that order",
    [
      GOOD,
      turn([bad("101", 2), good("102", 3), bad("103", 4)], ["broke/101", "recovered/102", "broke/103"]),
      NOTHING,
    ],
  ],
  ["of a project that is deleted is left out", [GOOD, turn([bad("101", 2)], [], DELETE_PROJECT)]],
  ["is noted when a build that was open at the last look has failed", [GOOD, BUILT_AGAIN, BROKE]],
];

const MORE_STORIES: Story[] = [
  [
    "goes on where the build that is built again fails again",
    [GOOD, BROKE, BUILT_AGAIN, turn([bad("101", 2)], []), turn([good("102", 3)], ["recovered/102"])],
  ],
  [
    "may be taken back, given back, and taken back again",
    [
      GOOD,
      BROKE,
      turn([good("101", 2)], OVER),
      turn([bad("101", 2)], ["broke/101/4"]),
      turn([good("101", 2)], ["recovered/101/5"]),
    ],
  ],
  [
    "goes on where a later build failed too, and is over before the next one where that failed anew",
    [
      GOOD,
      BROKE,
      turn([bad("102", 3)], []),
      turn([good("101", 2)], []),
      turn([good("102", 3)], ["recovered/102"]),
      turn([bad("103", 4)], ["broke/103"]),
      turn([good("103", 4), bad("104", 5)], ["recovered/103", "broke/104"]),
    ],
  ],
  [
    "is over where the failed build is deleted; a failure after it is a break again",
    [
      GOOD,
      BROKE,
      turn([], OVER, "update mirror.builds set deleted_at = now() where id = '101'"),
      NOTHING,
      turn([bad("102", 3)], ["broke/102"]),
    ],
    `withdrawn: pip does not fail any more: the service took back that html of latest failed at ${SINCE}.`,
  ],
  [
    "is over where its version is deleted",
    [GOOD, BROKE, turn([], OVER, DELETE_VERSION)],
    `deleted: pip does not fail any more: html of latest, which failed since ${SINCE}, was deleted.`,
  ],
  [
    "is over where its project is deleted",
    [GOOD, BROKE, turn([], OVER, DELETE_PROJECT)],
    `deleted: pip does not fail any more: html of latest, which failed since ${SINCE}, was deleted.`,
  ],
  [
    "is one of the html of the default version alone, and none where that was failing before",
    [
      GOOD,
      turn([bad("101", 2, onStable), bad("102", 2, { type: "pdf" })], []),
      turn([bad("103", 3, onStable), bad("104", 3)], [], BY_STABLE),
      turn([good("105", 4, onStable)], ["recovered/105"]),
    ],
  ],
  [
    "is not noted again when an older failure comes to light",
    [
      GOOD,
      turn([bad("103", 5)], ["broke/103"]),
      turn([bad("102", 4)], []),
      turn([good("105", 8)], ["recovered/105"]),
      turn([good("104", 7)], []),
    ],
  ],
  [
    "is not ended by an old success, and none begins by an old failure",
    [
      GOOD,
      turn([bad("102", 4), bad("104", 6)], ["broke/102"]),
      // It still fails, by build 104.
      turn([good("103", 5)], []),
      turn([good("106", 8)], ["recovered/106"]),
      // It still succeeds.
      turn([bad("105", 7)], []),
    ],
  ],
];

describe("a break", () => {
  const tell = async (_what: string, turns: Turn[], end?: string) => {
    for (const [at, { change, builds, noted }] of turns.entries()) {
      if (change !== null) await sql.unsafe(change);
      await run(...builds);
      expect(await look(), `turn ${at + 1}`).toEqual(noted);
    }
    if (end === undefined) return;
    const [row] = await sql<{ ended: string; summary: string }[]>`
      select data ->> 'ended' as ended, data ->> 'summary' as summary from sync.notices where type = 'project.recovered'`;
    expect(`${row?.ended}: ${row?.summary}`).toBe(end);
  };
  it.each(STORIES)("%s", tell);
  it.each(MORE_STORIES)("%s", { tags: ["long"] }, tell);

  it("is over whatever its age, and when the project is not muted any more", async () => {
    await run(good("100", 1));
    await look();
    await run(bad("101", 2));
    expect(await look()).toEqual(["broke/101"]);
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

  it("whose first mirror is full of failures makes no flood", async () => {
    expect(await look()).toEqual([]);
    await run(good("100", 1), bad("101", 2), good("102", 3), bad("103", 4));
    expect(await look()).toEqual([]);
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
