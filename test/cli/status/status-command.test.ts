import { beforeAll, describe, expect, it } from "vitest";
import { withSnapshot } from "../../../src/report/read-answer.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { findFigures } from "../../../src/report/status/figures.ts";
import type { StatusDocument } from "../../../src/report/status/read-status.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { runCli } from "../../support/cli.ts";
import { createTestDatabase, withTestSql } from "../../support/database.ts";
import { seedLeader } from "../../support/health-mirror.ts";
import { HELD, holdRefreshes } from "../../support/leases.ts";
import { NO_LIMIT } from "../../support/no-limit.ts";
import { rowsOf, saysOf } from "../../support/page-text.ts";
import { servePages } from "../../support/served-pages.ts";
import { startService, TINY } from "../../support/service.ts";
import { createWorld } from "../../support/simulation.ts";
import { syncOnce } from "../../support/sync.ts";
import { useDatabase } from "../../support/use-database.ts";

const status = (url: string, ...args: string[]) =>
  runCli(["status", ...args], { env: { DATABASE_URL: url } });

async function syncedDatabase() {
  const database = await createTestDatabase();
  const world = createWorld({ ...TINY, builds: 40, stuckShare: 0.5, rates: QUIET });
  await using service = await startService(world);
  const { error } = await syncOnce(database.url, new URL(service.url));
  if (error) throw error;
  return { database, world };
}

describe("status", () => {
  it("of a mirror that was never filled says so", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase();
    const { code, stdout } = await status(database.url);
    expect(code).toBe(0);
    expect(stdout).toContain("not fresh yet: the user list was never read to its end");
    expect(stdout).toContain(`stale, not read well within 1 d 6 h: ${RESOURCES.join(", ")}\n`);
    expect(stdout).toContain("no runs yet");
    expect(stdout).toContain("no open builds");
  });

  it("tells rows, runs and open builds, and --json has the same", { tags: ["long"] }, async () => {
    const { database, world } = await syncedDatabase();
    await using _ = database;
    const [plain, json] = [await status(database.url), await status(database.url, "--json")];
    expect(plain.code).toBe(0);
    expect(plain.stdout).toMatch(
      /^fresh as of \d.*\(<?[\d.]+ s ago\): the \w+ list was last read to its end/m,
    );
    expect(plain.stdout).toMatch(/^ *1 +full +succeeded/m);
    const told = JSON.parse(json.stdout);
    expect(told).toMatchObject({ stale: false, runs: [{ run_id: 1, status: "succeeded" }] });
    expect(told.database).not.toMatch(/:\/\/[^@]*:(?!\*\*\*@)[^@/]*@/);
    const records = [...world.truth().records("build")]
      .filter(({ listed }) => listed)
      .map(({ record }) => record);
    const rows = told.resources.find((one: { resource: string }) => one.resource === "build").rows;
    expect(rows).toBe(records.length);
    const open = records.filter(({ state }) => state !== "finished").length;
    expect(open).toBeGreaterThan(0);
    const states = told.open_builds as { open: number; stuck: number; oldest: string }[];
    for (const { oldest } of states) expect(oldest).toMatch(/T[\d:.]+Z$/);
    expect(states.reduce((sum, one) => sum + one.open, 0)).toBe(open);
    // The virtual world is years old.
    expect(states.reduce((sum, one) => sum + one.stuck, 0)).toBe(open);
  });

  it("shows who leads and what runs next, and that nothing does where nobody leads", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase();
    const args = ["--sync-cron", "17 2 1 1 *", "--watch-cron", "0 0 31W 2 *", "--timezone", "Europe/Berlin"];
    const { stdout: none } = await status(database.url, ...args);
    expect(none).toContain("no worker leads, so no run is scheduled\n");
    await seedLeader(database.sql);
    const { code, stdout } = await status(database.url, ...args);
    expect(code).toBe(0);
    expect(stdout).toContain("process 4711 on host-a leads since 2026-11-03 12:00:00Z, term 3\n");
    expect(stdout).toMatch(/^next sync: \d{4}-01-01 01:17:00Z \(17 2 1 1 \*, Europe\/Berlin\)$/m);
    expect(stdout).toContain("next watch: never (0 0 31W 2 *, Europe/Berlin)\n");
  });

  it("takes no run of a dead process for running, as the answer about the runs does not", async () => {
    await using database = await createTestDatabase();
    const { sql } = database;
    await sql.unsafe(HELD("run", 2));
    await sql`
      insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host, term) values
        ('full', 'running', now() - interval '1 hour', now() - interval '5 minutes', 1, 'host', 1),
        ('watch', 'running', now(), now(), 2, 'host', 2)`;
    const read = async () => JSON.parse((await status(database.url, "--json")).stdout);
    const { runs, last_watch_round } = await read();
    expect(runs).toMatchObject([
      { status: "interrupted", error: expect.stringContaining("the process ended") },
    ]);
    expect(Date.parse(runs[0].finished_at) - Date.parse(runs[0].started_at)).toBe(55 * 60_000);
    expect(last_watch_round).toMatchObject({ status: "running", finished_at: null, error: null });
    await sql`update sync.leases set until = '-infinity'`;
    const { code, stdout } = await status(database.url);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^last round of the watch: run 2, interrupted/m);
    expect(await sql`select status from report.runs`).toEqual([
      { status: "interrupted" },
      { status: "interrupted" },
    ]);
  });

  it("says that the reports are behind, and doctor says for whom their refresh waits", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase();
    const { sql } = database;
    await sql`
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
      values ('full', 'succeeded', now() - interval '1 hour', now() - interval '40 minutes', now(), 1, 'host')`;
    await sql`
      insert into sync.walks (run_id, resource, walk, started_at, finished_at)
      select 1, unnest(${[...RESOURCES]}::text[]), 'whole', now() - interval '1 hour', now() - interval '40 minutes'`;
    await holdRefreshes(sql);
    const doctor = async () => (await runCli(["doctor"], { env: { DATABASE_URL: database.url } })).stdout;
    expect((await status(database.url)).stdout).toMatch(
      /^the reports lack what runs have found since \d{4}/m,
    );
    expect(await doctor()).toMatch(
      /the reports lack what runs .* waits for session \d+ \(docmirror test\) of role/,
    );
    await withTestSql(
      database.url,
      (own) => own`insert into rollup.failed_refresh (failed_at, error) values (now(), 'damaged')`,
    );
    expect((await status(database.url)).stdout).toMatch(
      /^the refresh of the reports failed at \d{4}\S+ \S+Z, so they are older: damaged$/m,
    );
    expect(await doctor()).toMatch(/the refresh of the reports failed at \d{4}.*: damaged/);
    await sql`rollback`;
    await refreshReport(database.sql, { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 });
    expect((await status(database.url)).stdout).not.toMatch(/the reports lack|the refresh of the reports/);
    expect(await doctor()).not.toContain("the reports lack");
  });

  it("--max-age exits 11 when one of the lists is older, or was never read", { tags: ["long"] }, async () => {
    const { database } = await syncedDatabase();
    await using _ = database;
    expect((await status(database.url, "--max-age", "30h")).code).toBe(0);
    const change = (text: string) => database.sql.unsafe(text);
    await change("update sync.walks set finished_at = finished_at - interval '31 h' where resource = 'user'");
    const stale = await status(database.url, "--max-age", "30h", "--json");
    expect(stale.code).toBe(11);
    expect(JSON.parse(stale.stdout)).toMatchObject({ stale: true, oldest_list: { resource: "user" } });
    const reason = expect.stringMatching(/^the user list was last read to its end at \d/);
    const told = { resource: "user", reason, msg: "the mirror is too old" };
    expect(JSON.parse(stale.stderr)).toMatchObject(told);
    const plain = await status(database.url);
    expect([plain.code, plain.stdout]).toEqual([0, expect.stringMatching(/^stale: read as of \d/m)]);
    const bare = await status(database.url, "--max-age", "--json");
    expect(bare.code).toBe(11);
    expect(JSON.parse(bare.stdout)).toMatchObject({ stale: true, stale_after_ms: 30 * 3_600_000 });
    expect((await status(database.url, "--max-age", "--stale-after", "40h")).code).toBe(0);
    await change("delete from sync.walks where resource = 'file'");
    const never = await status(database.url, "--max-age", "1000d");
    expect(never.code).toBe(11);
    expect(never.stderr).toContain("the file list was never read to its end");
  });

  it("--max-age exits 11, with the run, when a clock ahead dated the sync", { tags: ["long"] }, async () => {
    const { database } = await syncedDatabase();
    await using _ = database;
    for (const table of ["runs", "walks"])
      await database.sql.unsafe(`update sync.${table} set started_at = started_at + interval '10 years',
        finished_at = finished_at + interval '10 years'`);
    const { code, stdout, stderr } = await status(database.url, "--max-age", "1h");
    expect(code).toBe(11);
    expect(stderr).toMatch(/list was last read at 203\d-.*, which is in the future: a clock is or was wrong/);
    expect(stdout).toMatch(/^run 1 began at 203\d-.*, which is in the future/m);
  });

  it.each(["soon", "30", "-1h", ""])("--max-age=%s exits 2", async (age) => {
    const { code, stdout, stderr } = await status("postgres://127.0.0.1:1/x", `--max-age=${age}`);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("--max-age");
  });
});

describe("of a mirror in trouble, status tells as doctor, the metrics and the page of the mirror do", {
  tags: ["long"],
}, () => {
  const HELD_BACK =
    "22 files have been missing from the list since 2026-11-03T12:00Z, more than DOCMIRROR_MAX_DELETE_RATIO allows: " +
    "they are kept at least until 2026-11-06T12:00Z; `docmirror sync --full --allow-mass-delete` deletes now what is gone";
  const database = useDatabase();
  let told: { plain: string; json: StatusDocument; page: string };
  /** Doctor names one trouble at a time: what it says first, and once each is over. */
  const doctored: string[] = [];
  beforeAll(async () => {
    const { sql } = database;
    await sql`
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
      select unnest(array['full', 'incremental', 'watch']), 'partial', now(), now(), now(), 1, 'host'`;
    await sql`
      insert into sync.walks (run_id, resource, walk, reason, started_at, finished_at, total_count, records, deficit, unstored)
      select run_id, resource, 'whole', case when resource = 'file' then ${HELD_BACK}::text end, now(), now(), 3000, 3000 - greatest(gap, 0), gap, 0
      from unnest(array['user', 'project', 'version', 'file', 'build'], array[0, 0, 0, -22, 15]) as of (resource, gap),
        generate_series(1, 2) as run_id`;
    await sql`
      insert into sync.walks (run_id, resource, walk, started_at, finished_at, total_count, records, deficit, unstored)
      values (3, 'build', 'head', now(), now(), 3000, 2985, 15, 0)`;
    await sql`
      update sync.walks set round_records = 0, round_reason = 'build list: the round read nothing', search_requests = 12,
        search_is_done = false
      where run_id = 2 and resource = 'build'`;
    await sql`
      insert into sync.rounds (resource, began_run_id, started_at, records, checkpoint, total_count)
      values ('build', 1, '2026-11-03T00:00:00Z', 400, '{}', 1000)`;
    await sql`
      insert into sync.missing_records (resource, record_id, run_id, noticed_at, held_until)
      select 'file', n, 1, '2026-11-03T12:00Z', '2026-11-06T12:00Z' from generate_series(1, 22) as n`;
    await sql`
      insert into sync.drift (run_id, resource, field, kind, detail, observed_at)
      values (1, 'version', '', 'vanished', 'dropped: its rows are kept', '2026-11-03T00:00:00Z'),
        (1, 'build', 'date', 'type_changed', 'moved by 5 h forward', now())`;
    await sql`
      insert into sync.jobs (job, good_at, what, bytes, failed_at, error, failures)
      select job, good_at, what, bytes, '2026-11-03 02:17Z', 'the disk is full (ENOSPC)', 3
      from (values ('backup', now() - interval '2 hours', '/backups/a.backup', 7), ('export', null, null, null))
        as of (job, good_at, what, bytes)`;
    await refreshReport(sql, { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 });
    await using pages = await servePages(database.url);
    told = {
      plain: (await status(database.url)).stdout,
      json: JSON.parse((await status(database.url, "--json")).stdout),
      page: await pages.page("/mirror"),
    };
    for (const over of ["delete from sync.drift", "delete from sync.missing_records", "select 1"]) {
      doctored.push((await runCli(["doctor"], { env: { DATABASE_URL: database.url } })).stdout);
      await sql.unsafe(over);
    }
  });

  it("which deletions wait, since when, and the command", () => {
    const { plain, json, page } = told;
    expect(plain).toContain(`run 2, 1: ${HELD_BACK}\n`);
    expect(plain).toContain(`\n${HELD_BACK}\n`);
    const held = { resource: "file", records: 22, since: "2026-11-03T12:00:00Z" };
    expect(json.held_deletions).toEqual([{ ...held, until: "2026-11-06T12:00:00Z" }]);
    expect(doctored[1]).toContain(HELD_BACK);
    expect(saysOf(page)).toContain(HELD_BACK.replaceAll("`", ""));
    expect(rowsOf(page, "lists")[RESOURCES.indexOf("file")]?.[1]).toContain("22 held back");
  });

  it("a list that shows another number than the service counts, and one that is gone", () => {
    const { plain, json, page } = told;
    expect(plain).toContain("the service counts 3,000 builds and shows 2,985\n");
    expect(plain).toContain("the root listing has no version since 2026-11-03: its rows are kept\n");
    expect(json.count_gaps).toEqual([{ resource: "build", counted: 3000, shown: 2985 }]);
    expect(doctored[2]).toContain("the service counts 3,000 builds and shows 2,985");
    expect(page).toContain("The service counts 15 builds, and 0 are here.");
    expect(page).toMatch(/The list of\s+<bdi>versions<.bdi> is missing/);
  });

  it("that the dates of builds are in change", () => {
    const mixed = "the dates of builds are in change (moved by 5 h forward): reports mix old and new ones";
    expect(told.plain).toContain(mixed);
    expect(doctored[0]).toContain(mixed);
  });

  it("how the round of the builds and the search of the newest sync did", async () => {
    expect(told.plain).toContain(
      "round of the builds: 400 of 1000 since 2026-11-03 00:00:00Z; run 2 read 0: build list: the round read nothing\n",
    );
    expect(told.plain).toMatch(/search below the head: run 2 sent 12 requests and did not settle/);
    const round = { began_at: "2026-11-03T00:00:00Z", records: 400, total_count: 1000 };
    expect(told.json.below_head).toMatchObject({ run_id: 2, round, search_is_done: false });
    const options = { isWorker: false, stuckAfterMs: 7_200_000, sourceTimezone: "Etc/UTC", ...NO_LIMIT };
    const figures = Object.assign(
      {},
      ...(await withSnapshot(database.sql, (tx) => findFigures(tx, options))),
    );
    const names = ["round_records", "round_stopped", "search_requests", "search_unsettled"];
    expect(names.map((name) => figures[`docmirror_${name}`])).toEqual([0, true, 12, true]);
  });

  it("when backups and exports were good last, and since when they fail", () => {
    const full = "failed 3 times since 2026-11-03 02:17:00Z: the disk is full (ENOSPC)";
    expect(told.plain).toContain(`\nbackup: ${full}; the last good one: 2 h `);
    expect(told.plain).toContain(`\nexport: ${full}; none was good yet\n`);
    expect(doctored[0]).toMatch(/^! warning +backups +backup: failed 3 times/m);
    expect(told.json.jobs).toMatchObject([
      { job: "backup", bytes: 7, failed_at: "2026-11-03T02:17:00Z", failures: 3 },
      { job: "export", good_at: null, what: null },
    ]);
  });
});
