/** The judge of the soaks, the nights and the month finds nothing in a good mirror, and each fault that is planted in one. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { judge as judgeLives } from "../../lab/judge/lives.ts";
import { judgeNights } from "../../lab/judge/nights.ts";
import { findDifferences, findFalselyVanished, findWrongDeletions } from "../../lab/judge/records.ts";
import { faultOf } from "../../lab/judge/transition-fault.ts";
import { createVerdicts } from "../../lab/judge/verdicts.ts";
import type { Ids, OddWorld } from "../../lab/soak/odd-world.ts";
import type { SyncResult } from "../../src/mirror/run/run.ts";
import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import { createTestDatabase, rolledBack } from "../support/database.ts";
import { type QuickWorld, startQuickWorld } from "../support/quick-world.ts";
import { findLedgerFaults, noteWrites } from "../support/several-workers.ts";
import { useDatabase } from "../support/use-database.ts";

let quick: QuickWorld;
let synced: SyncResult;

beforeAll(async () => {
  quick = await startQuickWorld({ users: 5, projects: 4, versions: 8, files: 6, builds: 50 });
  await quick.sync({ kind: "full" });
  quick.world.advance(3 * 3_600_000);
  synced = await quick.sync({ kind: "full" });
});
afterAll(() => quick?.[Symbol.asyncDispose]());

async function withFault<T>(statement: string, judge: (url: string) => Promise<T>): Promise<T> {
  await using database = await createTestDatabase({ copyOf: quick.databaseUrl });
  if (statement !== "") await database.sql.unsafe(statement);
  return await judge(database.url);
}

describe("records", () => {
  const ONE = "(select min(id) from mirror.files where deleted_at is null)";
  const FINISHED = "(select min(id) from mirror.builds where state = 'finished' and deleted_at is null)";
  const OPEN = "(select min(build_id) from sync.open_builds)";
  const FOLLOWED = "insert into sync.open_builds (build_id, since, seen_at, run_id)";

  test.each([
    ["", null],
    [`delete from mirror.files where id = ${ONE}`, /^file \d+ is missing$/],
    [`update mirror.files set name = 'another' where id = ${ONE}`, /^file \d+ differs$/],
    [`update mirror.files set deleted_at = now() where id = ${ONE}`, /^file \d+ lives but is marked/],
    [`update mirror.files set id = '987654' where id = ${ONE}`, /^file 987654 is gone but not marked/],
    [`delete from mirror.build_transitions where build_id = ${FINISHED}`, /^build \d+ is finished, but/],
    [`delete from sync.open_builds where build_id = ${OPEN}`, /^build \d+ is open but not followed$/],
    [`${FOLLOWED} values (${FINISHED}, now(), now(), 1)`, /^build \d+ is not open but followed$/],
  ])("%s", async (statement, says) => {
    const found = await withFault(statement, (url) => findDifferences(url, quick.world));
    if (says === null) expect(found).toEqual([]);
    else expect(found).toContainEqual(expect.stringMatching(says));
  });

  test("that live are never told as deleted or vanished", async () => {
    const statement = `
      insert into mirror.changes (resource, record_id, kind, run_id, observed_at) values ('file', ${ONE}, 'deleted', 1, now());
      update mirror.build_transitions set to_state = 'vanished', run_id = 1 where build_id = ${FINISHED} and seq = 1`;
    await withFault(statement, async (url) => {
      const { wrong } = await findWrongDeletions(url, quick.world, 0, new Set());
      expect(wrong).toEqual([expect.stringMatching(/^file \d+ lives but was marked/)]);
      expect(await findFalselyVanished(url, quick.world, 1)).toHaveLength(1);
    });
  });
});

describe("lives of builds", () => {
  const FIRST =
    "build_id = (select min(build_id) from mirror.build_transitions where to_state = 'finished' and seq = 1)";
  const YEARS = "interval '9 years'";

  test.each([
    ["", null],
    [
      `not_after = not_after - ${YEARS}, not_before = not_before - ${YEARS}`,
      /entered .* ms after its bounds$/,
    ],
    [`not_after = not_after + ${YEARS}, not_before = not_after`, /entered .* ms before its bounds$/],
    ["to_state = 'cloning'", /the build never was in this state$/],
    ["from_state = 'building'", /the row before it is of null$/],
    ["anomaly = 'backward'", /^build .* anomaly 'backward'/],
  ])("%s", async (change, says) => {
    const life = { world: quick.world, beganMs: quick.world.now().getTime(), looks: [], requests: 0 };
    const statement = change && `update mirror.build_transitions set ${change} where ${FIRST}`;
    const { faults, inside, transitions } = await withFault(statement, (url) => judgeLives(life, url));
    if (says === null) expect([faults, inside]).toEqual([[], transitions]);
    else expect(faults).toContainEqual(expect.stringMatching(says));
  });
});

describe("a build that was away", () => {
  const life = {
    createdAt: 0,
    endedAt: Number.POSITIVE_INFINITY,
    away: [{ from: 30, until: 60 }],
    states: new Map([
      ["building", 10],
      ["finished", 40],
    ]),
  };
  const row = { id: "1", seq: 3, from: "vanished", to: "finished", before: 70, anomaly: null, date: "" };
  const told = (change: object) =>
    faultOf({ ...row, after: 20, ...change }, ["building", "vanished"], life, {});

  test.each([
    ["may have finished since it was last seen", {}, null],
    ["did not finish after its detail was gone", { after: 45 }, /before its bounds$/],
    ["is back in the state that it had", { to: "building" }, null],
    ["is not back before it was", { to: "building", before: 55 }, /never was in this state$/],
  ])("%s", (_what, change, says) => {
    if (says === null) expect(told(change)).toBeNull();
    else expect(told(change)).toMatch(says);
  });
});

describe("verdicts of runs", () => {
  const idsOf = (): Ids => {
    const truth = quick.world.truth();
    const listed = (resource: Resource) => [...truth.records(resource)].filter((record) => record.listed);
    const ids = (resource: Resource) => new Set(listed(resource).map(({ record }) => record.id));
    return Object.fromEntries(RESOURCES.map((resource) => [resource, ids(resource)])) as unknown as Ids;
  };
  const judge = (statement: string, change: Partial<SyncResult["summary"]> = {}) =>
    withFault(statement, (url) =>
      createVerdicts(url, { listed: idsOf } as unknown as OddWorld, new Set()).judge(
        { ...synced.summary, ...change },
        idsOf(),
      ),
    );

  test("hold a good one for good", async () => {
    expect(synced.summary.status).toBe("succeeded");
    expect(await judge("")).toEqual([]);
  });

  test.each([
    ["delete from mirror.files where id = (select min(id) from mirror.files)", {}, /its file list misses 1/],
    ["", { status: "partial" }, /names no reason$/],
    ["", { unfinished: { deletions: 2 } }, /2 deletions are unfinished$/],
  ] as const)("%s, %j", async (statement, change, says) => {
    expect(await judge(statement, change as object)).toContainEqual(expect.stringMatching(says));
  });
});

describe("nights", () => {
  const DUE = [Date.parse("2026-03-01T02:00Z"), Date.parse("2026-03-02T02:00Z")];
  const run = (from: string, to: string, status = "succeeded", pid = 1) =>
    `insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
     values ('full', '${status}', '2026-03-${from}Z', '2026-03-${to}Z', now(), ${pid}, 'test');`;
  const good = run("01 02:00", "01 02:10") + run("02 02:00", "02 02:10");

  test.each([
    [good, []],
    [run("01 02:00", "01 02:10"), ["night 1 was missed"]],
    [good + run("02 05:00", "02 05:10"), [expect.stringMatching(/^night 1 was synced by runs \d+, \d+$/)]],
    [
      run("01 02:00", "01 02:10") +
        run("02 02:00", "02 02:10", "failed") +
        run("02 02:05", "02 02:20", "partial", 2),
      [expect.stringMatching(/^run \d+ began before run \d+ of another process had ended$/)],
    ],
  ])("%s", async (statement, faults) => {
    const emptied = `delete from sync.runs; ${statement}`;
    const verdict = await withFault(`set session_replication_role = replica; ${emptied}`, (url) =>
      judgeNights(url, DUE, []),
    );
    expect(verdict.faults).toEqual(faults);
  });
});

describe("the ledger of several workers", () => {
  const SIX = `
    insert into sync.leases (name, term, instance, pid, host, since, renewed_at, until) values ('lead', 1, 'one', 1, 'one', now(), now(), 'infinity');
    insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host) overriding system value
      select nth, 'full', 'running', now(), now(), 1, 'one' from generate_series(1, 6) as nth order by nth;
    update sync.runs set status = 'succeeded';
    insert into sync.walks (run_id, began_run_id, resource, walk, started_at, finished_at)
      select id, id, unnest(array['user', 'project', 'version', 'file', 'build']), 'whole', now(), now() from sync.runs;
    update watched.runs set began_at = '2026-03-10T12:00:00Z'::timestamptz + (run_id - 1) * interval '10 seconds';
    update watched.runs set ended_at = began_at + interval '2 seconds';`;
  const from = Date.parse("2026-03-10T12:00:00Z");
  const RUNS = "update watched.runs set";
  const LATE = `${RUNS} began_at = '2026-03-10T12:00:13Z', ended_at = '2026-03-10T12:00:15Z'`;

  const ledger = useDatabase();
  beforeAll(() => noteWrites(ledger.sql));

  test.each([
    ["", []],
    [
      `${RUNS} ended_at = began_at + interval '11 s' where run_id = 2`,
      ["run 2 was under way when run 3 began"],
    ],
    [`${RUNS} ended_at = null where run_id = 5`, ["run 5 was under way when run 6 began"]],
    ["insert into watched.writes (run_id) values (2), (3), (2)", ["run 2 wrote after run 3 did"]],
    ["insert into watched.strangers values (4, 7, 1)", ["run 4 is of process 7, but 1 led"]],
    [
      `${RUNS} status = 'partial' where run_id in (3, 4)`,
      ["what was due at 2026-03-10T12:00:20.000Z was not done"],
    ],
    [`${LATE} where run_id = 3`, ["run 3 did what was due at 2026-03-10T12:00:10.000Z a second time"]],
    [`${LATE}, is_astray = true where run_id = 3`, []],
  ])("%s: %j", async (fault, faults) => {
    const due = { everyMs: 10_000, from, until: from + 60_000, withinMs: 15_000 };
    await rolledBack(ledger.sql, async (sql) => {
      await sql.unsafe(SIX + fault);
      expect(await findLedgerFaults(sql, due)).toEqual(faults);
    });
  });
});
