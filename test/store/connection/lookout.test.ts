import { pino } from "pino";
import { expect, test, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { type ConnectOptions, connect } from "../../../src/store/connection/connect.ts";
import { createLookout } from "../../../src/store/connection/lookout.ts";
import { type Sql, withTransaction } from "../../../src/store/connection/sql.ts";
import { withTestSql } from "../../support/database.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

const database = useDatabase(emptyDatabase);
const KEY = 4711;
const HOLDER = /session \d+ \(docmirror test\) of role \S+, idle in a transaction since .+Z/;

/** A pool whose sessions may wait for 3 s, and what it says in the log meanwhile. */
function setUp(session: ConnectOptions["session"] = { lock_timeout: "3s" }) {
  const told: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line) => void told.push(JSON.parse(line)) });
  const sql = connect(database.url, {
    applicationName: "docmirror wait",
    max: 1,
    session,
    log,
    silentMs: 300,
  });
  return { sql, told, [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) };
}

/** Another session has the lock while `fn` runs. */
const whileHeld = <T>(fn: () => Promise<T>) =>
  withTestSql(database.url, (holder) =>
    holder.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${KEY})`;
      return fn();
    }),
  );

const take = (sql: Pick<Sql, "unsafe">) => sql.unsafe(`select pg_advisory_xact_lock(${KEY})`);

test.each([
  ["a statement", { lock_timeout: "3s" }, "55P03", take],
  [
    "a transaction",
    { lock_timeout: "3s" },
    "55P03",
    (sql: Sql) => withTransaction(sql, async (tx) => take(tx)),
  ],
  ["a statement that may not last longer", { statement_timeout: "3s" }, "57014", take],
] as const)(
  "%s that waits names the holder once in the log, and in its error",
  { tags: ["long"] },
  async (_what, session, code, wait) => {
    await using ours = setUp(session);
    await whileHeld(() =>
      expect(wait(ours.sql)).rejects.toMatchObject({ code, message: expect.stringMatching(HOLDER) }),
    );
    expect(ours.told).toMatchObject([{ level: 40, waits_for: expect.stringMatching(HOLDER) }]);
  },
);

test("a statement that is slow by itself says nothing, and no later error names who was waited for", {
  tags: ["long"],
}, async () => {
  await using ours = setUp({ statement_timeout: "2s" });
  await expect(ours.sql`select pg_sleep(5)`).rejects.toThrow(/statement timeout/);
  expect(ours.told).toEqual([]);
});

test("no statement may wait for ever, where nobody has said how long", async () => {
  async function read(query: string, session: ConnectOptions["session"] = {}) {
    const url = `${database.url}${database.url.includes("?") ? "&" : "?"}${query}`;
    const sql = connect(url, { applicationName: "docmirror wait", max: 1, session });
    const [row] = await sql<{ lock: string; statement: string }[]>`
      select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement`;
    await sql.end({ timeout: 5 });
    return row;
  }
  expect(await read("")).toEqual({ lock: "5min", statement: "6h" });
  expect(await read("lock_timeout=0")).toEqual({ lock: "0", statement: "6h" });
  expect(await read("", { statement_timeout: "10s" })).toEqual({ lock: "5min", statement: "10s" });
  await database.sql.unsafe(
    `alter database ${new URL(database.url).pathname.slice(1)} set lock_timeout = '7s'`,
  );
  expect(await read("")).toEqual({ lock: "7s", statement: "6h" });
});

test.each([
  ["that does not even begin a session", "CONNECT_TIMEOUT", 1],
  ["that has no free connection", "53300", 0],
])("a server %s for five minutes is given up: %s", async (_what, code, times) => {
  const abandon = vi.fn();
  const ask = () => Promise.reject(Object.assign(new Error("it failed"), { code }));
  const { silent } = createLookout({ silentMs: 10_000, log: silentLog, ask, abandon });
  const now = vi.spyOn(performance, "now");
  for (const [minute, given] of [
    [0, 0],
    [4, 0],
    [5, times],
  ] as const) {
    now.mockReturnValue(minute * 60_000);
    silent();
    await systemClock.sleep(0);
    expect(abandon).toHaveBeenCalledTimes(given);
  }
  now.mockRestore();
});
