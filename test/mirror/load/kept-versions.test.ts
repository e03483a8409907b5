/** Builds of versions that are deleted: the service sends null in place of such a version, and the reports count them where they were. */
import { readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { connectionsOf } from "../../support/connections.ts";
import { type Loading, setUpLoading, loadingTest as test } from "../../support/loading.ts";
import { REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { wireBuild, wireProject, wireVersion } from "../../support/wire-records.ts";

const project = wireProject("1");
const [gone, merged] = [wireVersion("77", project), wireVersion("78", project)];
/** A finished build of 2024-05-15, triggered at that minute of the tenth hour. */
const build = (id: string, minute: number, version: string | null, success: boolean) =>
  wireBuild(id, {
    state: "finished",
    success,
    project: "/api/v1/project/1/",
    date: `2024-05-15T10:${minute}:00`,
    version: version === null ? null : `/api/v1/version/${version}/`,
  });

async function setUp(loading: Loading): Promise<void> {
  await loading.load("project", [project]);
  await loading.load("version", [gone, merged]);
  // The first only ever failed, the other only ever succeeded.
  await loading.load("build", [build("1", 10, "77", false), build("2", 20, "78", true)]);
}

/** What the service answers once the versions are deleted. */
const unnamed = [build("1", 10, null, false), build("2", 20, null, true)];

async function loseVersions({ sql, loader }: Loading): Promise<void> {
  const at = "2024-05-15T13:00:00Z";
  await sql`
    insert into sync.missing_records (resource, record_id, run_id, noticed_at) select 'version', id, 1, ${at} from mirror.versions`;
  const sighting = { resource: "version" as const, askedAt: at, observedAt: at, request: null };
  await loader.retire(["77", "78"].map((id) => ({ ...sighting, id })));
}

async function read({ url, sql }: Loading) {
  await refreshReport(connectionsOf(url).sql, REPORT_SETTINGS);
  const facts = await sql`select build_id, version_id, reference from report.fact_builds order by 1`;
  const failing = await sql`select version_id from report.failing_now`;
  const recoveries = await sql`select version_id, recovered_build_id from report.recoveries`;
  return {
    facts: facts.map((row) => [row.build_id, row.version_id, row.reference]),
    failing: failing.map((row) => row.version_id),
    recoveries: recoveries.map((row) => [row.version_id, row.recovered_build_id]),
  };
}

const KEPT = [
  ["1", "77", null],
  ["2", "78", null],
];
const NONE = [
  ["1", "-1", "(none)"],
  ["2", "-1", "(none)"],
];

describe("builds whose version is deleted", () => {
  test("stay in the series of that version, and end no failure of another one", async ({ loading }) => {
    await setUp(loading);
    expect(await read(loading)).toEqual({ facts: KEPT, failing: ["77"], recoveries: [["77", null]] });
    await loading.load("build", unnamed);
    await loseVersions(loading);
    expect(await read(loading)).toEqual({ facts: KEPT, failing: [], recoveries: [] });
    const [record] = await loading.sql`select version_id, version_uri from mirror.builds where id = '1'`;
    expect(record).toEqual({ version_id: null, version_uri: null });
    const days = await loading.sql`
      select first_failed_build_id from report.failing_on('2024-05-15') union all
      select first_failed_build_id from report.streaks where is_deleted and is_open`;
    expect(days).toHaveLength(1);
  });

  test("are found by the refresh where the version goes after them, and comes back", async ({ loading }) => {
    await setUp(loading);
    await loading.load("build", unnamed);
    // The version is still there: the build was taken out of it, and nothing says where it belongs.
    expect((await read(loading)).facts).toEqual(NONE);
    await loseVersions(loading);
    expect((await read(loading)).facts).toEqual(KEPT);
    await loading.load("version", [gone, merged]);
    expect((await read(loading)).facts).toEqual(NONE);
  });

  test("are of the version that they had last, and of the one that they name again", async ({ loading }) => {
    await setUp(loading);
    await loading.load("build", [build("1", 10, "78", false)]);
    await loading.load("build", unnamed);
    await loseVersions(loading);
    expect((await read(loading)).facts).toEqual([["1", "78", null], KEPT[1]]);
    await loading.load("build", [build("1", 10, "900", false)]);
    expect((await read(loading)).facts).toEqual([["1", "-1", "/api/v1/version/900/"], KEPT[1]]);
  });

  test("are known of a mirror that is older than the table, by its history", async ({ loading }) => {
    await setUp(loading);
    await loading.load("build", unnamed);
    await loseVersions(loading);
    const before = await loading.sql`delete from mirror.kept_versions returning *`;
    const migration = readFileSync(
      new URL("../../../migrations/0011_kept_versions.sql", import.meta.url),
      "utf8",
    );
    const backfill = migration.split("--> statement-breakpoint").find((text) => text.includes("INSERT INTO"));
    await loading.sql.unsafe(backfill ?? "");
    const filled = await loading.sql`select * from mirror.kept_versions`;
    expect([...filled].toSorted(byBuild)).toEqual([...before].toSorted(byBuild));
    expect(before).toHaveLength(2);
  });
});

const byBuild = (a: Record<string, unknown>, b: Record<string, unknown>) =>
  String(a.build_id).localeCompare(String(b.build_id));

describe("builds that never had a version", () => {
  test.each([null, ""])("make no series (%j)", async (version) => {
    await using loading = await setUpLoading();
    await loading.load("project", [project]);
    const ofNone = (id: string, minute: number, success: boolean) => ({
      ...build(id, minute, null, success),
      version,
    });
    await loading.load("build", [ofNone("1", 10, false), ofNone("2", 20, true), ofNone("3", 30, false)]);
    expect(await read(loading)).toMatchObject({ failing: [], recoveries: [] });
    const [row] = await loading.sql`
      select state, builds::int, finished::int, failed::int from report.project_states where project_id = '1'`;
    expect(row).toEqual({ state: "unknown", builds: 3, finished: 3, failed: 2 });
  });
});
