import { describe, expect, it } from "vitest";
import { StoreError } from "../../../src/base/errors.ts";
import { grantReader, planReaderGrant } from "../../../src/report/grant-reader.ts";
import { withSnapshot } from "../../../src/report/read-answer.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { createReadFigures, findFigures } from "../../../src/report/status/find-figures.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { withSql } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createKeptLog } from "../../support/quick-world.ts";

const OPTIONS = { stuckAfterMs: 7_200_000, sourceTimezone: "Etc/UTC", isWorker: true };
const read = (sql: Sql, isWorker = true) =>
  withSnapshot(sql, (tx) => findFigures(tx, { ...OPTIONS, isWorker }));

async function withMirror(use: (sql: Sql, url: string) => Promise<void>): Promise<void> {
  await using database = await createTestDatabase();
  await withSql(database.url, { applicationName: "docmirror test #abc", max: 2 }, (sql) =>
    use(sql, database.url),
  );
}

/** A run with the number of its place among those that were added. */
function addRun(sql: Sql, kind: string, status: string, beat = "now()"): Promise<unknown> {
  const finished = status === "running" ? "null" : "now()";
  return sql.unsafe(
    `insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, requests)
     values ($1, $2, now() - interval '90 seconds', ${finished}, ${beat}, 1, 'h', 7)`,
    [kind, status],
  );
}

describe("the figures of a mirror", () => {
  it("are few in an empty one, and claim nothing", () =>
    withMirror(async (sql) => {
      const figures = await read(sql, false);
      expect(figures.lists).toHaveLength(RESOURCES.length);
      for (const list of figures.lists) {
        expect(list).toMatchObject({
          lastGoodAt: null,
          upstream: null,
          deficit: 0,
          quarantined: 0,
          missing: 0,
        });
        expect(list).toMatchObject({ isHeldBack: false, schemaChanges: 0 });
      }
      expect(figures.kinds).toEqual(
        ["full", "incremental", "watch", "quarantine"].map((kind) => {
          return { kind, running: 0, lastSuccessAt: null, last: null };
        }),
      );
      expect(figures).toMatchObject({
        openBuilds: [],
        hasLeader: null,
        isLeader: null,
        otherSchemaChanges: 0,
      });
      expect(figures.notices).toEqual({ waiting: 0, oldestWaitingAt: null, givenUp: 0 });
    }));

  it("say that builds stopped arriving, while the mirror looks", () => {
    const look = (sql: Sql, id: number, ago: string) =>
      sql.unsafe(`
        delete from rollup.state; delete from sync.walks;
        insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host) overriding system value
        values (${id}, 'watch', 'succeeded', now(), now(), 1, 'test');
        insert into sync.walks (run_id, resource, walk, started_at, finished_at)
        values (${id}, 'build', 'whole', now() - interval '${ago}', now())`);
    return withMirror(async (sql, url) => {
      expect((await read(sql)).arrivals).toEqual({ isQuiet: null, lastBuildAt: null });
      await sql.unsafe(`
        insert into mirror.builds (id, date, state, success, first_seen_at, changed_at, record_hash)
        select place::text, (now() at time zone 'UTC') - interval '5 hours' - place * interval '10 minutes', 'finished', true,
          now() - interval '5 hours' - place * interval '10 minutes', now(), ''
        from generate_series(0, 35 * 144) as place`);
      const findArrivals = async () => {
        await refreshReport(url, { sourceTimezone: "Etc/UTC", stuckAfterMs: OPTIONS.stuckAfterMs });
        return (await read(sql)).arrivals;
      };
      await look(sql, 1, "1 minute");
      const { isQuiet, lastBuildAt } = await findArrivals();
      expect(isQuiet).toBe(true);
      expect(Date.now() / 1000 - (lastBuildAt ?? 0)).toBeGreaterThanOrEqual(5 * 3600);
      await look(sql, 2, "6 minutes");
      expect((await findArrivals()).isQuiet).toBeNull();
      await sql`update mirror.builds set date = now() at time zone 'UTC' - interval '2 minutes', record_hash = 'x', first_seen_at = now() where id = '0'`;
      await look(sql, 3, "1 minute");
      expect((await findArrivals()).isQuiet).toBe(false);
    });
  });

  it("have the last run of each kind by its number, and whether one is alive", () =>
    withMirror(async (sql) => {
      await addRun(sql, "full", "succeeded");
      await addRun(sql, "incremental", "partial");
      await addRun(sql, "full", "failed");
      await addRun(sql, "watch", "running", "now() - interval '2 minutes'");
      await addRun(sql, "incremental", "running");
      const { kinds } = await read(sql);
      const of = (kind: string) => kinds.find((one) => one.kind === kind);
      expect(of("full")).toMatchObject({ running: 0, last: { status: "failed", seconds: 90, requests: 7 } });
      expect(of("full")?.lastSuccessAt).toBeGreaterThan(1.7e9);
      expect(of("incremental")).toMatchObject({
        running: 1,
        lastSuccessAt: null,
        last: { status: "partial" },
      });
      // Its process has died.
      expect(of("watch")).toMatchObject({ running: 0, last: null });
    }));

  it("count the failures since the last run that read a part, of syncs and of rounds", () =>
    withMirror(async (sql) => {
      const failures = async () =>
        Object.fromEntries((await read(sql)).failedInARow.map(({ command, runs }) => [command, runs]));
      for (const status of ["failed", "succeeded", "failed", "interrupted", "failed"])
        await addRun(sql, "full", status);
      await addRun(sql, "watch", "failed");
      await addRun(sql, "quarantine", "succeeded");
      expect(await failures()).toEqual({ sync: 2, watch: 1 });
      await addRun(sql, "incremental", "partial");
      expect(await failures()).toEqual({ sync: 0, watch: 1 });
    }));

  it.each([
    ["this process leads", "abc", "now()", "null", true, true],
    ["another one leads", "xyz", "now()", "null", true, false],
    ["another one leads whose name ends alike", "bc", "now()", "null", true, false],
    ["the leader is frozen", "abc", "now() - interval '1 minute'", "null", false, false],
    ["the leader resigned", "abc", "now()", "now()", false, false],
  ])("show when %s", (_case, instance, beat, resigned, hasLeader, isLeader) =>
    withMirror(async (sql) => {
      await sql.unsafe(
        `insert into sync.leader (term, instance, pid, host, backend_pid, since, heartbeat_at, resigned_at)
         values (1, $1, 1, 'h', 1, now(), ${beat}, ${resigned})`,
        [instance],
      );
      expect(await read(sql)).toMatchObject({ hasLeader, isLeader });
      expect(await read(sql, false)).toMatchObject({ hasLeader, isLeader: null });
    }));

  it("count notices that wait, and those that were given up", () =>
    withMirror(async (sql) => {
      await sql`
        insert into sync.notices (subject, type, data, noted_at, delivered_at, given_up_at) values
          ('a', 'run.ended', '{}', now() - interval '1 hour', null, null), ('b', 'run.ended', '{}', now(), null, null),
          ('c', 'run.ended', '{}', now() - interval '3 days', now(), null),
          ('d', 'run.ended', '{}', now() - interval '2 days', null, now())`;
      const { notices } = await read(sql);
      expect(notices).toMatchObject({ waiting: 2, givenUp: 1 });
      expect(Date.now() / 1000 - (notices.oldestWaitingAt ?? 0)).toBeCloseTo(3600, -2);
    }));

  it("count schema changes, deletions that are held back and quarantine by resource, whatever upstream names", () =>
    withMirror(async (sql) => {
      await addRun(sql, "full", "partial");
      await sql`
        insert into sync.drift (run_id, resource, field, kind, detail, observed_at) values
          (1, 'build', 'a', 'appeared', '', now()), (1, ${'x"} 1\nevil 1'}, '', 'appeared', '', now())`;
      await sql`
        insert into sync.walks (run_id, resource, walk, reason, started_at, finished_at, total_count, deficit, unstored)
        values (1, 'project', 'whole', 'too many are gone', now(), now(), 40, null, null),
          (1, 'build', 'head', null, now(), now(), 900, 12, 2)`;
      await sql`
        insert into sync.quarantine (run_id, resource, record_id, reason, created_at, resolved_at)
        values (1, 'file', '1', 'x', now(), null), (1, 'file', '2', 'x', now(), now())`;
      const { lists, otherSchemaChanges } = await read(sql);
      const of = (resource: string) => lists.find((list) => list.resource === resource);
      expect(of("build")).toMatchObject({ schemaChanges: 1, upstream: 900, deficit: 10, isHeldBack: false });
      expect(of("project")).toMatchObject({ isHeldBack: true, upstream: 40, deficit: 0 });
      expect(of("file")).toMatchObject({ quarantined: 1 });
      expect(otherSchemaChanges).toBe(1);
    }));

  it("can be read by the role that `grant-reader --interface` makes", () =>
    withMirror(async (sql) => {
      const role = `reader_${Math.random().toString(36).slice(2, 10)}`;
      await grantReader(sql, await planReaderGrant(sql, role, { withInterface: true }));
      try {
        const figures = await sql.begin(async (tx) => {
          await tx.unsafe(`set local role ${role}`);
          return findFigures(tx, OPTIONS);
        });
        expect(figures.lists).toHaveLength(RESOURCES.length);
      } finally {
        await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
      }
    }));
});

const AWAY_OPTIONS = { stuckAfterMs: 0, sourceTimezone: "Etc/UTC", isWorker: false };
const AWAY = { isUp: false, figures: null };

/** Reads figures of a database that fails with these errors, one after another. */
function setup(...errors: Error[]) {
  const { log, messages } = createKeptLog();
  const read = () => Promise.reject(errors.shift() ?? new Error("no more"));
  return { readFigures: createReadFigures({ read, options: AWAY_OPTIONS, log }), messages };
}

describe("the figures", () => {
  it("are absent while the database is away, which is logged once", async () => {
    const down = new StoreError("no connection", { sqlstate: "08006" });
    const { readFigures, messages } = setup(down, down, new StoreError("too slow"));
    for (let times = 0; times < 3; times++) expect(await readFigures()).toEqual(AWAY);
    expect(messages()).toEqual(Array(2).fill("could not read the figures for the metrics"));
  });

  it("are absent where the role may not read them, although the database is there", async () => {
    const { readFigures } = setup(
      new StoreError("permission denied for table notices", { sqlstate: "42501" }),
    );
    expect(await readFigures()).toEqual({ isUp: true, figures: null });
  });
});
