import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { LockedError, StoreError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { startRun } from "../../../src/store/ledger/run-ledger.ts";
import { acquireRunLock } from "../../../src/store/ledger/run-lock.ts";
import type { RunKind } from "../../../src/store/schema/runs.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { useDatabase } from "../../support/use-database.ts";

const database = useDatabase(() => createTestDatabase({ max: 2 }), "test");
const { sql } = database;
const { signal } = new AbortController();
const openRun = (kind: RunKind, hour = 1) => startRun(sql, kind, `2024-05-15T0${hour}:00:00Z`);
/** From outside, so that the holder learns it only when it asks next. */
const killSessions = () => sql`
  select pg_terminate_backend(pid, 10000) from pg_stat_activity
  where datname = current_database() and application_name = 'docmirror lock'`;

test("one holds the lock; the next is told who runs, and has it afterwards", { tags: ["long"] }, async () => {
  const lock = await acquireRunLock(database.url);
  await expect(acquireRunLock(database.url)).rejects.toMatchObject({
    name: "LockedError",
    exitCode: 10,
    message: "another run holds the lock: another process",
    hint: expect.stringContaining("docmirror status"),
  });
  await openRun("full");
  const told = await acquireRunLock(database.url).catch((error: unknown) => error);
  expect(told).toBeInstanceOf(LockedError);
  expect(String(told)).toContain(`run 1, process ${process.pid} on `);
  for (let time = 0; time < 2; time++) await lock.release();
  await (await acquireRunLock(database.url)).release();
});

test("a run that a dead process left open is not taken for the holder", { tags: ["long"] }, async () => {
  await openRun("full");
  const lock = await acquireRunLock(database.url);
  await expect(acquireRunLock(database.url)).rejects.toMatchObject({
    message: "another run holds the lock: another process",
    heldBy: null,
  });
  await openRun("watch", 2);
  await expect(acquireRunLock(database.url)).rejects.toMatchObject({ heldBy: "watch" });
  await lock.release();
});

test("two databases on one server have a lock each", async () => {
  await using other = await createTestDatabase();
  const locks = [await acquireRunLock(database.url), await acquireRunLock(other.url)];
  for (const lock of locks) await lock.release();
});

test("the lock of a holder whose session died is free", async () => {
  const lock = await acquireRunLock(database.url);
  await killSessions();
  await (await acquireRunLock(database.url)).release();
  await lock.release();
});

test("a database that cannot be reached is a StoreError", async () => {
  const failed = acquireRunLock("postgres://127.0.0.1:1/nowhere");
  await expect(failed).rejects.toBeInstanceOf(StoreError);
});

describe("a holder", () => {
  test("makes sure of the lock as often as it likes, and lets go of it at once", async () => {
    const lock = await acquireRunLock(database.url);
    for (let time = 0; time < 3; time++) await lock.hold();
    await lock.release();
    await (await acquireRunLock(database.url)).release();
  });

  test("whose session died takes the lock again", { tags: ["long"] }, async () => {
    const lock = await acquireRunLock(database.url);
    await killSessions();
    await lock.hold().catch((error: unknown) => expect(error).toBeInstanceOf(StoreError));
    await lock.hold();
    await expect(acquireRunLock(database.url)).rejects.toBeInstanceOf(LockedError);
    await lock.release();
  });

  test("whose session died is told when another has the lock by then", { tags: ["long"] }, async () => {
    const lock = await acquireRunLock(database.url);
    await killSessions();
    const other = await acquireRunLock(database.url);
    await expect(lock.hold()).rejects.toBeInstanceOf(LockedError);
    await other.hold();
    await lock.release();
    await other.release();
  });
});

describe("who waits for a round of the watch", () => {
  async function held(kind: RunKind) {
    const lock = await acquireRunLock(database.url);
    await openRun(kind);
    return lock;
  }

  test("gets the lock when the round has ended", async () => {
    const round = await held("watch");
    const waits: number[] = [];
    const clock = {
      now: () => new Date(),
      async sleep(ms: number) {
        if (waits.push(ms) === 3) await round.release();
      },
    };
    const lock = await acquireRunLock(database.url, { outlast: { clock, signal } });
    expect(waits).toEqual([250, 250, 250]);
    await lock.release();
  });

  test("gives up after three minutes", { tags: ["long"] }, async () => {
    const round = await held("watch");
    const clock = createFakeClock();
    const failed = acquireRunLock(database.url, { outlast: { clock, signal } });
    await expect(failed).rejects.toMatchObject({ name: "LockedError", heldBy: "watch" });
    expect(clock.sleeps).toHaveLength(720);
    await round.release();
  });

  test("stops at once when it is told to, and leaves no connection", async () => {
    const round = await held("watch");
    const clock = createFakeClock({ holds: true });
    const stop = new AbortController();
    const waiting = acquireRunLock(database.url, { outlast: { clock, signal: stop.signal } });
    await clock.slept(1);
    const reason = new Error("enough");
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    const left = await sql`
      select from pg_stat_activity where datname = current_database() and application_name = 'docmirror lock'`;
    expect(left).toHaveLength(1);
    await round.release();
  });

  test("waits for no sync", async () => {
    const sync = await held("full");
    const clock = createFakeClock();
    const failed = acquireRunLock(database.url, { outlast: { clock, signal } });
    await expect(failed).rejects.toMatchObject({ name: "LockedError", heldBy: "full" });
    expect(clock.sleeps).toEqual([]);
    await sync.release();
  });
});

describe("who takes the lock while the server ends its session", () => {
  const patience = { clock: systemClock, signal, log: silentLog };

  /** Ends the session of the one that waits, in the middle of its statement. */
  async function endWaiting(): Promise<void> {
    const ended = () => sql`
      select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and application_name = 'docmirror lock'
        and state = 'active' and query like '%pg_sleep%'`;
    while ((await ended()).length === 0);
  }

  test("takes it in the next session", async () => {
    const other = await acquireRunLock(database.url);
    const waiting = acquireRunLock(database.url, { patience, outlast: patience });
    for (let time = 0; time < 2; time++) await endWaiting();
    await other.release();
    const lock = await waiting;
    await lock.hold();
    await expect(acquireRunLock(database.url)).rejects.toBeInstanceOf(LockedError);
    await lock.release();
  });

  test("is told of it at once without patience, and of a server that never answered", async () => {
    const other = await acquireRunLock(database.url);
    const waiting = acquireRunLock(database.url, { outlast: patience });
    const failed = expect(waiting).rejects.toMatchObject({
      name: "StoreError",
      sqlstate: expect.stringMatching(/^(57P01|CONNECTION_CLOSED)$/),
    });
    await endWaiting();
    await failed;
    await other.release();
    const nowhere = acquireRunLock("postgres://127.0.0.1:1/nowhere", { patience });
    await expect(nowhere).rejects.toMatchObject({ message: "Cannot reach Postgres at 127.0.0.1:1" });
  });
});
