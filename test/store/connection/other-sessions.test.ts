import { expect, test } from "vitest";
import { connect, withSql } from "../../../src/store/connection/connect.ts";
import {
  describeSession,
  describeSessions,
  findBlockers,
  findTableHolders,
} from "../../../src/store/connection/other-sessions.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

const database = useDatabase(() => emptyDatabase(2), "test");
const { sql } = database;
const NAME = "docmirror waits";

/** Runs `statement` in a session named as ours, and gives who blocks it once it waits. `hold` is what another session does first. */
async function blockersOf(hold: string, statement: string) {
  await sql`create table thing as select 1 as id`;
  const waiting = connect(database.url, { applicationName: NAME, max: 2 });
  const other = connect(database.url, { applicationName: "psql", max: 1 });
  try {
    return await other.begin(async (tx) => {
      await tx.unsafe(hold);
      const [{ pid } = { pid: 0 }] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      const waits = Promise.all([waiting.unsafe(statement), waiting.unsafe(statement)]).catch(() => {});
      await expect
        .poll(async () => (await sql`select from pg_locks where not granted`).count, { timeout: 60_000 })
        .toBeGreaterThan(1);
      const found = await withSql(database.url, { applicationName: NAME, max: 1 }, findBlockers);
      await sql`select pg_cancel_backend(pid) from pg_stat_activity where application_name = ${NAME}`;
      await waits;
      return { pid, found };
    });
  } finally {
    await Promise.all([waiting.end({ timeout: 1 }), other.end({ timeout: 1 })]);
  }
}

test.each([
  ["a table", "lock table thing in share mode", "insert into thing values (2)"],
  ["a row", "update thing set id = 3", "delete from thing"],
  ["an advisory lock", "select pg_advisory_xact_lock(12345678901)", "select pg_advisory_lock(12345678901)"],
])("who holds %s is found, and nobody who waits for it too", async (_what, hold, statement) => {
  const { pid, found } = await blockersOf(hold, statement);
  expect(found).toMatchObject([{ pid, name: "psql", isActive: false }]);
  expect(found.map(describeSession)).toEqual([
    expect.stringMatching(/^session \d+ \(psql\) of role \S+, idle in a transaction since .+Z$/),
  ]);
});

test("the holder of a lock on a table is found by its mode, in this database alone", async () => {
  const find = (of: Sql, mode: string) => findTableHolders(of, { table: "pg_class", mode });
  const lock = connect(database.url, { applicationName: "any name", max: 1 });
  await lock.begin(async (tx) => {
    await tx`lock table pg_class in share row exclusive mode`;
    expect(await find(sql, "share row exclusive")).toMatchObject([{ name: "any name" }]);
    expect(await find(sql, "exclusive")).toEqual([]);
    await using other = await emptyDatabase();
    expect(await find(other.sql, "share row exclusive")).toEqual([]);
  });
  await lock.end({ timeout: 5 });
});

test("a prepared transaction has no session, and many sessions are counted", () => {
  const gone = {
    pid: 0,
    role: null,
    name: "",
    startedAt: null,
    inTransactionSince: null,
    isActive: null,
  };
  const hidden = { ...gone, pid: 7, role: "alice" };
  expect(describeSessions([gone, hidden, hidden, hidden, hidden])).toBe(
    "a prepared transaction (pg_prepared_xacts lists them); session 7 of role alice; session 7 of role alice; and 2 others",
  );
});
