import { describe, expect, it } from "vitest";
import { collectNotices } from "../../src/notify/notify.ts";
import { RESOURCES } from "../../src/resources/resources.ts";
import { type Noted, useNotices } from "./noted.ts";

const HOUR_MS = 3_600_000;
const NOW = "2026-03-10T12:00:00Z";

const { sql, look: lookAt } = useNotices();
const look = (now = NOW) => lookAt({ staleAfterMs: 30 * HOUR_MS, now });

interface Run {
  id?: number;
  kind?: string;
  status: string;
  error?: string | null;
  warnings?: string[];
  at?: string;
}

async function addRun(run: Run): Promise<number> {
  const { kind = "full", status, error = null, warnings = [], at = NOW } = run;
  const [row] = await sql<{ id: number }[]>`
    insert into sync.runs (id, kind, status, started_at, finished_at, heartbeat_at, pid, host, error, warnings)
    overriding system value
    values (coalesce(${run.id ?? null}::bigint, (select coalesce(max(id), 0) + 1 from sync.runs)), ${kind}, ${status},
      ${at}, ${status === "running" ? null : at}, now(), 1, 'test', ${error}, ${warnings})
    returning id`;
  return row?.id ?? 0;
}

const addWalk = (
  runId: number,
  resource: string,
  { walk = "whole", reason = null as string | null, at = NOW } = {},
) => sql`
  insert into sync.walks (run_id, resource, walk, reason, started_at, finished_at, records)
  values (${runId}, ${resource}, ${walk}, ${reason}, ${at}, ${at}, 7)`;

async function addGoodSync(at = NOW): Promise<number> {
  const runId = await addRun({ status: "succeeded", at });
  for (const resource of RESOURCES) await addWalk(runId, resource, { at });
  return runId;
}

const subjects = (noted: readonly Noted[]) => noted.map(({ subject }) => subject);

describe("the first look", () => {
  it("notes nothing of what is there, and the second one nothing again", async () => {
    await addGoodSync("2026-01-01T00:00:00Z");
    await addRun({ status: "failed", error: "boom" });
    await sql`insert into sync.drift (run_id, resource, field, kind, observed_at) values (2, 'build', 'x', 'appeared', ${NOW})`;
    expect(await look()).toEqual([]);
    expect(await look()).toEqual([]);
  });

  it("begins anew after a time without a webhook", async () => {
    await addGoodSync();
    await look();
    await addRun({ status: "failed" });
    await sql`update sync.notice_marks set marked_at = now() - interval '36 days'`;
    expect(await look()).toEqual([]);
    await addRun({ status: "failed" });
    expect(subjects(await look())).toEqual(["run/3"]);
  });
});

describe("types that nobody wants", () => {
  it("are not noted", async () => {
    await addGoodSync();
    await look();
    await addRun({ status: "failed", error: "boom" });
    const settings = { staleAfterMs: 30 * HOUR_MS, now: NOW };
    const unwanted = await collectNotices(sql, settings, { types: ["builds.quiet"], projects: null });
    expect(unwanted).toMatchObject({ noted: 0 });
    expect(await sql`select from sync.notices`).toHaveLength(0);
    const wanted = await collectNotices(sql, settings, { types: ["run.ended"], projects: ["x"] });
    expect(wanted).toMatchObject({ noted: 1 });
  });
});

describe("runs", () => {
  it("that end other than well are noted once each, with what they say of themselves", async () => {
    await addGoodSync();
    await look();
    await addRun({ status: "succeeded" });
    await addRun({ status: "failed", error: "GET http://x/ got\nno answer" });
    const partial = await addRun({ kind: "incremental", status: "partial", warnings: ["paused"] });
    await addWalk(partial, "build", { walk: "not_whole", reason: "12 records are missing" });
    await addRun({ kind: "quarantine", status: "interrupted", error: "stopped by SIGTERM" });
    const noted = await look();
    expect(noted.map(({ type, data }) => [type, data.summary])).toEqual([
      ["run.ended", "The full sync (run 3) failed: GET http://x/ got no answer"],
      ["run.ended", "The incremental sync (run 4) was partial: 12 records are missing"],
      ["run.ended", "The retry of the quarantine (run 5) was interrupted: stopped by SIGTERM"],
    ]);
    expect(noted[1]?.data).toMatchObject({
      run_id: 4,
      kind: "incremental",
      status: "partial",
      finished_at: "2026-03-10T12:00:00+00:00",
      error: null,
      warnings: ["paused"],
      more_warnings: 0,
      lists: [{ resource: "build", walk: "not_whole", reason: "12 records are missing", records: 7 }],
    });
    expect(await look()).toEqual([]);
  });

  it("of a dead process are noted when a later run closes them", async () => {
    await addGoodSync();
    await look();
    await addRun({ status: "running" });
    expect(await look()).toEqual([]);
    // Its process died days ago. The next run closes it in the transaction that begins it.
    await sql`
        update sync.runs set status = 'interrupted', finished_at = heartbeat_at, heartbeat_at = now() - interval '3 days'
        where status = 'running'`;
    await addRun({ status: "running" });
    expect(subjects(await look())).toEqual(["run/2"]);
    await sql`update sync.runs set status = 'succeeded' where status = 'running'`;
    expect(await look()).toEqual([]);
  });

  it("that were open at the first look are noted when they end", async () => {
    await addRun({ status: "failed" });
    const running = await addRun({ status: "running" });
    await look();
    await sql`update sync.runs set status = 'failed' where id = ${running}`;
    expect(subjects(await look())).toEqual(["run/2"]);
  });

  it("are not lost when a lower number is committed after a higher one", async () => {
    await addRun({ id: 10, status: "succeeded" });
    await look();
    await addRun({ id: 12, status: "failed" });
    expect(subjects(await look())).toEqual(["run/12"]);
    await addRun({ id: 11, status: "failed" });
    expect(subjects(await look())).toEqual(["run/11"]);
    expect(await look()).toEqual([]);
  });

  it("do not come again after their notices were removed", async () => {
    await look();
    await addRun({ status: "failed" });
    expect(await look()).toHaveLength(1);
    await sql`update sync.runs set heartbeat_at = now() - interval '31 days'`;
    await sql`delete from sync.notices`;
    expect(await look()).toEqual([]);
  });

  it("of the watch are noted only where the round before ended well", async () => {
    await look();
    const watch = (status: string, error: string | null = "boom") => addRun({ kind: "watch", status, error });
    // Nothing to watch yet.
    await watch("partial", null);
    expect(await look()).toEqual([]);
    await watch("failed");
    await watch("partial");
    await addRun({ status: "succeeded" });
    await watch("failed");
    expect(subjects(await look())).toEqual(["run/2"]);
    await watch("succeeded", null);
    await watch("interrupted");
    await watch("failed");
    expect((await look()).map(({ data }) => data.summary)).toEqual([
      "A round of the watch (run 7) was interrupted: boom",
    ]);
  });

  it("of any number come a hundred at a time, and none is lost", async () => {
    await look();
    await sql`
        insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
        select 'full', 'failed', ${NOW}, ${NOW}, now(), 1, 'test' from generate_series(1, 230)`;
    const sizes = [await look(), await look(), await look(), await look()].map(({ length }) => length);
    expect(sizes).toEqual([100, 100, 30, 0]);
  });

  it("make no notice that is longer than a receiver takes", async () => {
    await look();
    const long = '\u0001\\"❤\t'.repeat(5_000);
    const id = await addRun({ status: "failed", error: long, warnings: Array(40).fill(long) });
    for (const resource of RESOURCES) await addWalk(id, resource, { walk: "not_whole", reason: long });
    const [notice] = await look();
    expect(Buffer.byteLength(JSON.stringify(notice?.data))).toBeLessThan(20_000);
    expect(notice?.data).toMatchObject({ more_warnings: 35 });
  });
});

describe("lists", () => {
  it("that go stale are noted once for each staleness, also with another limit and after the notice was removed", async () => {
    await addGoodSync("2026-03-10T00:00:00Z");
    await look("2026-03-10T01:00:00Z");
    expect(await look("2026-03-11T05:59:00Z")).toEqual([]);
    const noted = await look("2026-03-11T06:01:00Z");
    expect(subjects(noted)).toEqual(RESOURCES.toSorted().map((of) => `list/${of}/2026-03-10 00:00:00+00`));
    expect(noted[0]).toMatchObject({
      type: "list.stale",
      data: {
        summary: "The build list was last read well at 2026-03-10 00:00 UTC.",
        resource: "build",
        last_good_at: "2026-03-10T00:00:00+00:00",
        stale_after_s: 108_000,
      },
    });
    await sql`delete from sync.notices`;
    expect(await look("2026-05-01T00:00:00Z")).toEqual([]);
    const runId = await addRun({ kind: "incremental", status: "succeeded" });
    await addWalk(runId, "build", { at: "2026-05-01T00:00:00Z" });
    expect(await look("2026-05-01T00:01:00Z")).toEqual([]);
    expect(subjects(await look("2026-05-03T00:00:00Z"))).toEqual(["list/build/2026-05-01 00:00:00+00"]);
  });

  it("that were never read well are noted when the first run is that old", async () => {
    await look();
    const runId = await addRun({ status: "succeeded", at: NOW });
    await addWalk(runId, "build");
    expect(await look("2026-03-11T12:00:00Z")).toEqual([]);
    const noted = await look("2026-03-11T19:00:00Z");
    expect(subjects(noted)).toContain("list/file/never");
    expect(noted.map(({ data }) => data.summary)).toContain("The file list was never read well.");
    expect(await look("2026-03-12T19:00:00Z")).toEqual([]);
  });

  it("make one notice when the clock jumps ahead and comes back", async () => {
    await addGoodSync();
    await look();
    expect(await look("2027-01-01T00:00:00Z")).toHaveLength(RESOURCES.length);
    expect(await look()).toEqual([]);
    // The same staleness again is no news.
    expect(await look("2027-01-01T00:00:00Z")).toEqual([]);
    const runId = await addRun({ kind: "incremental", status: "succeeded" });
    await addWalk(runId, "build", { at: "2028-01-01T00:00:00Z" });
    expect((await look()).map(({ data }) => data.summary)).toEqual([
      "The build list was last read well at 2028-01-01 00:00 UTC, which is in the future: a clock is or was wrong.",
    ]);
  });
});

describe("upstream's interface", () => {
  const addDrift = (runId: number, count: number, name = "field") => sql`
    insert into sync.drift (run_id, resource, field, kind, detail, observed_at)
    select ${runId}, 'build', ${name} || i, 'appeared', 'a text', ${NOW} from generate_series(1, ${count}::int) as i`;

  it("is noted once a run that met changes, not what the first sync met", async () => {
    await look();
    const first = await addGoodSync();
    await addDrift(first, 2);
    expect(await look()).toEqual([]);
    const open = await addRun({ status: "running" });
    await addDrift(open, 1, "late");
    expect(await look()).toEqual([]);
    await sql`update sync.runs set status = 'succeeded' where id = ${open}`;
    const data = {
      summary: "Upstream's interface changed: the field late1 of build appeared.",
      run_id: 2,
      observed_at: "2026-03-10T12:00:00+00:00",
      more_changes: 0,
      changes: [{ resource: "build", field: "late1", kind: "appeared", detail: "a text" }],
    };
    expect(await look()).toEqual([{ subject: "schema/2", type: "schema.changed", data }]);
    expect(await look()).toEqual([]);
  });

  it("makes no notice that is longer than a receiver takes", async () => {
    await addGoodSync();
    await look();
    const runId = await addRun({ status: "succeeded" });
    await addDrift(runId, 500, '❤"\\\u0002'.repeat(500));
    const [notice] = await look();
    expect(notice?.data.summary).toContain("Upstream's interface changed in 500 ways");
    expect(notice?.data.more_changes).toBe(480);
    expect(notice?.data.changes).toHaveLength(20);
    expect(Buffer.byteLength(JSON.stringify(notice?.data))).toBeLessThan(20_000);
  });
});

describe("two looks at the same time", () => {
  it("note each thing once, and none waits for the other", async () => {
    await addGoodSync();
    await look();
    await addRun({ status: "failed" });
    await sql.begin(async (tx) => {
      await tx`select from sync.notice_marks where source = 'runs' for update`;
      expect(await look()).toEqual([]);
    });
    const looks = await Promise.all(
      [1, 2, 3].map(() => collectNotices(sql, { staleAfterMs: 1e9, now: NOW })),
    );
    expect(looks.reduce((sum, { noted }) => sum + noted, 0)).toBe(1);
  });
});

describe("a backup or an export that fails", () => {
  const fail = (job: string, at: string, error = "the disk is full") => sql`
    insert into sync.jobs as old (job, failed_at, error, failures) values (${job}, ${at}, ${error}, 1)
    on conflict (job) do update set failed_at = coalesce(old.failed_at, excluded.failed_at), error = excluded.error,
      failures = old.failures + 1`;
  const succeed = (job: string) => sql`
    update sync.jobs set good_at = ${NOW}, what = '/backups/a', failed_at = null, error = null, failures = 0 where job = ${job}`;

  it("is a notice once, until it was good again; what failed before is none", async () => {
    await fail("export", "2026-03-10T01:00:00Z");
    await look();
    await fail("export", "2026-03-10T02:00:00Z");
    expect(await look()).toEqual([]);
    await fail("backup", "2026-03-10T03:00:00Z");
    expect(await look()).toMatchObject([
      {
        type: "job.failed",
        data: {
          summary: "The backup failed: the disk is full. None was good yet.",
          job: "backup",
          error: "the disk is full",
          last_good: null,
          last_good_at: null,
        },
      },
    ]);
    await fail("backup", "2026-03-10T04:00:00Z", "the folder is gone");
    expect(await look()).toEqual([]);
    await succeed("backup");
    await succeed("export");
    expect(await look()).toEqual([]);
    await fail("backup", "2026-03-10T05:00:00Z");
    const [again] = await look();
    expect(again?.data.summary).toBe(
      "The backup failed: the disk is full. The last good one began at 2026-03-10 12:00 UTC.",
    );
  });
});
