import { hostname } from "node:os";
import { describe, expect, test } from "vitest";
import { LockedError } from "../../../src/base/errors.ts";
import { type Sql, withTransaction } from "../../../src/store/connection/sql.ts";
import {
  beatHeart,
  findHeadFacts,
  findResumableWalks,
  finishRun,
  finishWalk,
  type RunTotals,
  saveProgress,
  startRun,
  startWalks,
  type WalkCounts,
} from "../../../src/store/ledger/run-ledger.ts";
import { createTestDatabase } from "../../support/database.ts";
import { nextLease, openRun } from "../../support/leases.ts";
import { createRole } from "../../support/roles.ts";
import { useDatabase } from "../../support/use-database.ts";

const counts: WalkCounts = {
  pages: 3,
  records: 60,
  inserted: 1,
  updated: 2,
  unchanged: 57,
  deleted: 4,
  restored: 5,
  quarantined: 6,
};
const none = Object.fromEntries(Object.keys(counts).map((key) => [key, 0])) as unknown as WalkCounts;
const totals: RunTotals = {
  requests: 1,
  bytes: 2,
  replacedNul: 3,
  resolved: 4,
  unresolved: 5,
  transitions: 6,
  changed: 0,
  clockAhead: { minMs: -7.5, maxMs: 8.5 },
  certificateEnd: new Date("2026-12-31T23:59:59Z"),
  unfinished: { deletions: 7, waiting: 0, references: 8, open_builds: 9, deficit: 10 },
};
/** A walk that begins in its own run. */
const from = (runId: number, startedAt: string) => ({ startedAt, beganRunId: runId });
const at = (hour: number) => `2024-05-15T${String(hour).padStart(2, "0")}:00:00.000Z`;

const mirror = useDatabase(() => createTestDatabase({ max: 4 }), "test");
const { sql } = mirror;
const finish = (
  runId: number,
  end: Partial<Parameters<typeof finishRun>[2]> = {},
  more: Partial<RunTotals> = {},
  by: Sql = sql,
) => {
  const usual = {
    status: "succeeded" as const,
    finishedAt: at(2),
    error: null,
    warnings: [],
    isQuiet: false,
  };
  return finishRun(by, runId, { ...usual, ...end }, { ...totals, ...more });
};
async function startBuilds(hour = 1): Promise<number> {
  const { runId } = await openRun(sql, "full", at(hour));
  await startWalks(sql, runId, ["build"], from(runId, at(hour)), none, null);
  return runId;
}
const END = {
  reason: null,
  totalCount: 1,
  counts,
  checkpoint: null,
  finishedAt: at(3),
  unstored: 0,
  deficit: null,
};

describe("a run", () => {
  test("is running under its process, and closed with what it did", async () => {
    const { runId, interrupted } = await openRun(sql, "full", at(1));
    expect(interrupted).toEqual([]);
    expect(await sql`select kind, status, started_at, finished_at, pid, host from sync.runs`).toEqual([
      {
        kind: "full",
        status: "running",
        started_at: "2024-05-15 01:00:00+00",
        finished_at: null,
        pid: process.pid,
        host: hostname(),
      },
    ]);
    await finish(runId, { status: "partial", error: "so", warnings: ["a", "b"] });
    const [row] = await sql`select * from sync.runs`;
    expect(row).toMatchObject({
      status: "partial",
      finished_at: "2024-05-15 02:00:00+00",
      error: "so",
      requests: 1,
      bytes: 2,
      replaced_nul: 3,
      transitions: 6,
      warnings: ["a", "b"],
      references_resolved: 4,
      references_unresolved: 5,
      clock_ahead_min_ms: -8,
      clock_ahead_max_ms: 9,
      unfinished: totals.unfinished,
    });
  });

  test.each([
    ["is unknown where no reply told", null, [null, null]],
    ["may be years", { minMs: -1e12, maxMs: 1e12 }, [-(2 ** 31), 2 ** 31 - 1]],
  ])("keeps the difference of the clocks, which %s", async (_, clockAhead, kept) => {
    const { runId } = await openRun(sql, "full", at(1));
    await finish(runId, {}, { clockAhead });
    const [row] = await sql`select clock_ahead_min_ms, clock_ahead_max_ms from sync.runs`;
    expect(Object.values(row ?? {})).toEqual(kept);
  });

  test("has the size of the database, and none where its sessions took a role that may not ask for it", async () => {
    const sizes = async () =>
      (await sql`select database_bytes from sync.runs order by id`).map((run) => run.database_bytes);
    await finish((await openRun(sql, "full", at(1))).runId);
    expect(await sizes()).toEqual([expect.any(Number)]);
    const [{ name } = { name: "" }] = await sql<{ name: string }[]>`select current_database() as name`;
    const rights = `revoke connect on database ${name} from public; grant usage on schema sync to ROLE`;
    await using role = await createRole(mirror, `${rights}; grant select, update on sync.runs to ROLE`);
    const { runId } = await openRun(sql, "full", at(1));
    await withTransaction(sql, async (tx) => {
      await tx.unsafe(`set local role ${role.name}`);
      await finish(runId, {}, {}, tx as unknown as Sql);
    });
    expect(await sizes()).toEqual([expect.any(Number), null]);
  });

  test("that a dead process left open is closed as interrupted at its last heartbeat", async () => {
    const first = await openRun(sql, "full", at(1));
    await finish(first.runId, { status: "failed", finishedAt: at(1) });
    const dead = await openRun(sql, "full", at(2));
    const next = await openRun(sql, "incremental", at(3));
    expect(next.interrupted).toEqual([dead.runId]);
    const runs = await sql`
      select status, finished_at = heartbeat_at as at_heartbeat, error from sync.runs order by id`;
    expect(runs).toMatchObject([
      { status: "failed", error: null },
      { status: "interrupted", at_heartbeat: true, error: "the process ended without closing its run" },
      { status: "running" },
    ]);
  });

  test("shows that it lives by its heartbeat", async () => {
    const { runId } = await openRun(sql, "full", at(1));
    await sql`update sync.runs set heartbeat_at = '2000-01-01'`;
    await beatHeart(sql, runId);
    const [run] = await sql`select heartbeat_at > '2020-01-01' as beaten from sync.runs`;
    expect(run?.beaten).toBe(true);
  });
});

test.each([
  ["whole", 2, null, true],
  ["head", 0, 0, true],
  ["head", 2, 2, true],
  ["head", 0, 5, false],
  ["head", 0, -3, false],
  ["head", null, null, true],
  ["not_whole", 0, null, false],
] as const)("a walk that ended %s, with %s unstored and a deficit of %s, is good: %s", async (walk, unstored, deficit, isGood) => {
  const runId = await startBuilds();
  await finishWalk(sql, runId, "build", { ...END, walk, unstored, deficit });
  expect(await sql`select is_good from sync.walks`).toEqual([{ is_good: isGood }]);
});

describe("a walk", () => {
  test("that was left in the middle can be gone on from, with its counts and its beginning", async () => {
    const runId = await startBuilds();
    await startWalks(sql, runId, ["user"], from(runId, at(1)), none, null);
    expect(await findResumableWalks(sql, at(0), at(9))).toEqual([]);
    const checkpoint = { seq: 3, request: "/api/v1/build/?limit=20&offset=60" };
    await saveProgress(sql, runId, "build", counts, {
      checkpoint,
      at: at(2),
      totalCount: 60,
      oldestAt: null,
    });
    // A reader of the first sync wants to know how far it is.
    const [build] = await sql`select total_count from sync.walks where resource = 'build'`;
    expect(build?.total_count).toBe(60);
    const [startedAt, checkpointAt] = ["2024-05-15 01:00:00+00", "2024-05-15 02:00:00+00"];
    expect(await findResumableWalks(sql, at(2), at(9))).toEqual([
      { runId, beganRunId: runId, resource: "build", checkpoint, startedAt, checkpointAt, ...counts },
    ]);
    expect(await findResumableWalks(sql, at(3), at(9))).toEqual([]);
    // A checkpoint that lies ahead was dated by a clock that is wrong.
    expect(await findResumableWalks(sql, at(0), at(1))).toEqual([]);
    // A run that came to no walk leaves it as it was; one that began it anew does not.
    const later = await openRun(sql, "full", at(3));
    expect(await findResumableWalks(sql, at(0), at(9))).toHaveLength(1);
    await startWalks(sql, later.runId, ["build"], from(later.runId, at(3)), none, null);
    expect(await findResumableWalks(sql, at(0), at(9))).toEqual([]);
  });

  test("that ended keeps a checkpoint only when upstream broke it off", async () => {
    const { runId } = await openRun(sql, "full", at(1));
    const end = { ...END, totalCount: 60, unstored: null };
    const checkpoint = { seq: 3, request: "/x" };
    for (const resource of ["build", "user"] as const) {
      await startWalks(sql, runId, [resource], from(runId, at(1)), none, null);
      await saveProgress(sql, runId, resource, counts, {
        checkpoint,
        at: at(2),
        totalCount: 60,
        oldestAt: null,
      });
    }
    await finishWalk(sql, runId, "user", { ...end, walk: "whole" });
    await finishWalk(sql, runId, "build", { ...end, walk: "not_whole", reason: "lost", checkpoint });
    expect((await findResumableWalks(sql, at(0), at(9))).map(({ resource }) => resource)).toEqual(["build"]);
    const walks =
      await sql`select walk, reason, total_count, pages, records from sync.walks order by resource`;
    expect(walks).toEqual([
      { walk: "not_whole", reason: "lost", total_count: 60, pages: 3, records: 60 },
      { walk: "whole", reason: null, total_count: 60, pages: 3, records: 60 },
    ]);
  });

  test("that measured the gap of the service last is found by its run, whatever the clock said; others aside", async () => {
    expect((await findHeadFacts(sql, "build")).gap).toEqual({ unshown: 0, repeated: 0 });
    const gaps = {
      8: { unshown: 8, repeated: 0 },
      2: { unshown: 2, repeated: 1 },
      3: null,
      4: null,
    } as const;
    const walks = { 8: "whole", 2: "head", 3: "head", 4: "not_whole" } as const;
    for (const hour of [8, 2, 3, 4] as const) {
      const end = { ...END, walk: walks[hour], gap: gaps[hour], finishedAt: at(hour + 1) };
      await finishWalk(sql, await startBuilds(hour), "build", end);
    }
    expect((await findHeadFacts(sql, "build")).gap).toEqual({ unshown: 2, repeated: 1 });
    expect(await findHeadFacts(sql, "build")).toMatchObject({ endedAt: "2024-05-15 05:00:00+00" });
    expect((await findHeadFacts(sql, "user")).gap).toEqual({ unshown: 0, repeated: 0 });
    // A program of before has written all of it as one number.
    await finishWalk(sql, await startBuilds(9), "build", { ...END, walk: "whole", unstored: 3, deficit: 5 });
    expect((await findHeadFacts(sql, "build")).gap).toEqual({ unshown: 2, repeated: 0 });
  });
});

describe("a run that another one has closed", () => {
  test("writes nothing more into the ledger", async () => {
    const runId = await startBuilds();
    await openRun(sql, "full", at(2));
    const checkpoint = { seq: 3, request: "/x" };
    const saving = saveProgress(sql, runId, "build", counts, {
      checkpoint,
      at: at(2),
      totalCount: 60,
      oldestAt: null,
    });
    await expect(saving).rejects.toMatchObject({ name: "LockedError", exitCode: 10 });
    const ending = finishWalk(sql, runId, "build", { ...END, walk: "whole", checkpoint });
    await expect(ending).rejects.toBeInstanceOf(LockedError);
    await expect(beatHeart(sql, runId)).rejects.toBeInstanceOf(LockedError);
    await expect(finish(runId)).rejects.toMatchObject({ exitCode: 10 });
    expect(await sql`select pages, walk, checkpoint from sync.walks`).toEqual([
      { pages: 0, walk: null, checkpoint: null },
    ]);
    expect(await sql`select status from sync.runs order by id`).toEqual([
      { status: "interrupted" },
      { status: "running" },
    ]);
  });

  test("is not closed while a page of it is being committed", async () => {
    const runId = await startBuilds();
    let taking: Promise<unknown> | undefined;
    await withTransaction(sql, async (tx) => {
      await saveProgress(tx, runId, "build", counts, {
        checkpoint: null,
        at: at(2),
        totalCount: null,
        oldestAt: null,
      });
      taking = openRun(sql, "full", at(2));
      const waits = () => sql`
        select from pg_locks join pg_stat_activity using (pid) where datname = current_database() and not granted`;
      await expect.poll(waits).toHaveLength(1);
      expect(await sql`select status from sync.runs`).toEqual([{ status: "running" }]);
    });
    expect(await taking).toMatchObject({ interrupted: [runId] });
  });

  test("opened or closed twice in the same way, since the first answer was lost, is one run", async () => {
    const lease = await nextLease(sql);
    const first = await startRun(sql, "full", at(1), lease);
    expect(await startRun(sql, "full", at(1), lease)).toEqual(first);
    expect(await sql`select status from sync.runs`).toEqual([{ status: "running" }]);
    for (let time = 0; time < 2; time++) await finish(first.runId);
    expect(await sql`select status from sync.runs`).toEqual([{ status: "succeeded" }]);
  });
});
