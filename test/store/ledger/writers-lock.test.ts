/** A role that only reads can take each advisory lock; it stops nothing, and is named. */
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { grantReader, planReaderGrant } from "../../../src/report/grant-reader.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { connect } from "../../../src/store/connection/connect.ts";
import { createLeaderLock, type Term } from "../../../src/store/ledger/leader.ts";
import { acquireRunLock, tryRunLock } from "../../../src/store/ledger/run-lock.ts";
import {
  createWritersLock,
  describeHolder,
  findHolders,
  LEAD_KEY,
  RUN_KEY,
} from "../../../src/store/ledger/writers-lock.ts";
import { createTestDatabase } from "../../support/database.ts";
import { REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { useDatabase } from "../../support/use-database.ts";

const database = useDatabase(() => createTestDatabase({ max: 3 }), "test");
const { sql } = database;
const REFRESH_KEY = "6441180125304119587";

/** A session of a reader that has all three locks. */
async function intrude() {
  const role = `docmirror_test_intruder_${randomBytes(4).toString("hex")}`;
  await grantReader(sql, await planReaderGrant(sql, role));
  await sql.unsafe(`alter role ${role} password 'x'`);
  const url = Object.assign(new URL(database.url), { username: role, password: "x" }).href;
  const intruder = connect(url, { applicationName: "psql", max: 1 });
  for (const key of [RUN_KEY, LEAD_KEY, REFRESH_KEY]) {
    const [row] = await intruder`select pg_try_advisory_lock(${key}::bigint) as taken`;
    expect(row?.taken).toBe(true);
  }
  return {
    role,
    intruder,
    async [Symbol.asyncDispose]() {
      await intruder.end({ timeout: 1 });
      await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
    },
  };
}

test("a run, a lead and a refresh go on past it, and one alone has each", async () => {
  await using intrusion = await intrude();
  const { role, intruder } = intrusion;
  const warnings: unknown[][] = [];
  const log: typeof silentLog = Object.assign(Object.create(silentLog), {
    warn: (...line: unknown[]) => warnings.push(line),
  });
  const patience = { clock: systemClock, signal: new AbortController().signal, log };
  const run = await acquireRunLock(database.url, { patience });
  expect(JSON.stringify(warnings)).toContain(role);
  await run.hold();
  await expect(acquireRunLock(database.url)).rejects.toMatchObject({ name: "LockedError" });
  expect(await sql.begin((tx) => tryRunLock(tx))).toBe(false);

  const [first, second] = [createLeaderLock(silentLog), createLeaderLock(silentLog)];
  const term = (await first.take(first.nameSessions(database.url))) as Term;
  expect(term.number).toBe(1);
  expect(await second.take(second.nameSessions(database.url))).toMatchObject({ name: "LockedError" });
  expect(await term.keep(first.nameSessions(database.url))).toBe(true);

  await refreshReport(database.url, REPORT_SETTINGS);

  const holders = await findHolders(sql);
  expect(holders.map(({ lock, may_write }) => `${lock} ${may_write}`).toSorted()).toEqual([
    "lead false",
    "lead true",
    "run false",
    "run true",
  ]);
  const [line] = holders
    .filter(({ may_write }) => !may_write)
    .map((holder) => describeHolder({ ...holder, session: holder.session.role ?? "" }));
  expect(line).toContain(role);

  // The plain number is free now, and still nobody else has the lock.
  await intruder`select pg_advisory_unlock_all()`;
  await expect(acquireRunLock(database.url)).rejects.toMatchObject({ name: "LockedError" });
  expect(await second.take(second.nameSessions(database.url))).toMatchObject({ name: "LockedError" });
  await run.release();
  await (await acquireRunLock(database.url)).release();
  await first.release();
  await second.release();
});

test("a migration goes on past it", async () => {
  await using _ = await intrude();
  expect(await sql.begin((tx) => tryRunLock(tx))).toBe(true);
});

test("of two that take it at once, past another and not, at most one has it", async () => {
  await using intrusion = await intrude();
  const { intruder } = intrusion;
  for (let time = 0; time < 8; time++) {
    await (time % 2
      ? intruder`select pg_advisory_unlock_all()`
      : intruder`select pg_try_advisory_lock(${RUN_KEY}::bigint)`);
    const sessions = Array.from({ length: 3 }, () =>
      connect(database.url, { applicationName: "docmirror test", max: 1 }),
    );
    const taken = await Promise.all(sessions.map((session) => createWritersLock(RUN_KEY).tryTake(session)));
    expect(taken.filter(({ isLocked }) => isLocked).length).toBeLessThanOrEqual(1);
    for (const session of sessions) await session.end({ timeout: 5 });
  }
});
