import { describe, expect, inject, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { LockedError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createProbe } from "../../../src/store/connection/probe.ts";
import { type TransactionSql, withTransaction } from "../../../src/store/connection/sql.ts";
import { createConnections } from "../../../src/store/ledger/connections.ts";
import {
  createLeases,
  findHolder,
  isLease,
  type Lease,
  type Leases,
  tryReserve,
} from "../../../src/store/ledger/leases.ts";
import { takeRunLease } from "../../../src/store/ledger/run-lease.ts";
import { startRun } from "../../../src/store/ledger/run-ledger.ts";
import type { LeaseName } from "../../../src/store/schema/leases.ts";
import type { RunKind } from "../../../src/store/schema/runs.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { otherProcess } from "../../support/leases.ts";
import { PGBOUNCER, startPooler } from "../../support/pgbouncer.ts";
import { createKeptLog } from "../../support/quick-world.ts";
import { createReader, createRole } from "../../support/roles.ts";
import { later } from "../../support/tally.ts";
import { useDatabase } from "../../support/use-database.ts";

const database = useDatabase(() => createTestDatabase({ max: 2 }), "test");
const { sql } = database;

async function take(process: { leases: Leases }, name: LeaseName = "lead"): Promise<Lease> {
  const taken = await process.leases.take(name);
  if (isLease(taken)) return taken;
  throw new Error(`held by term ${taken.term}`);
}
const isRefused = async (process: { leases: Leases }, name: LeaseName = "lead") =>
  !isLease(await process.leases.take(name));
/** As if nobody had renewed them for a minute. */
const silence = () => sql`update sync.leases set until = clock_timestamp() - interval '1 minute'`;
const writes = (lease: Lease) => withTransaction(sql, (tx: TransactionSql) => lease.assertHolds(tx));

describe("a lease", () => {
  test("is that of one process; the next one is told who has it, and gets it when that one gives it up", async () => {
    await using one = otherProcess(database.url);
    await using other = otherProcess(database.url);
    const lease = await take(one);
    expect(lease.term).toBe(1);
    expect(await findHolder(sql, "lead")).toMatchObject({
      pid: process.pid,
      term: 1,
      instance: one.instance,
    });
    expect(await other.leases.take("lead")).toMatchObject({ pid: process.pid, term: 1 });
    expect(await lease.keep()).toBe(true);
    await lease.release();
    await lease.release();
    expect(await findHolder(sql, "lead")).toBeNull();
    expect(await lease.keep()).toBe(false);
    const next = await take(other);
    expect(next.term).toBe(2);
    // An old holder takes nothing away.
    await lease.release();
    expect(await next.keep()).toBe(true);
  });

  test("is had by one of 40 that take it at once", { tags: ["long"] }, async () => {
    for (let time = 0; time < 5; time++) {
      const all = Array.from({ length: 40 }, (_, at) =>
        createLeases(createProbe(sql), { instance: `h${at}`, log: silentLog }),
      );
      const taken = await Promise.all(all.map((leases) => leases.take("content")));
      expect(taken.filter(isLease)).toHaveLength(1);
      await silence();
    }
  });

  test("of a process that died is free at once, and what it had left open is refused", async () => {
    await using dead = otherProcess(database.url);
    await using next = otherProcess(database.url);
    const lease = await take(dead);
    await dead.kill(sql);
    expect((await take(next)).term).toBe(2);
    await expect.poll(() => lease.keep().catch(() => null)).toBe(false);
    await expect(writes(lease)).rejects.toBeInstanceOf(LockedError);
  });

  test("is kept by a process whose session was lost, when nobody took it meanwhile", async () => {
    await using one = otherProcess(database.url);
    await using other = otherProcess(database.url);
    const lease = await take(one);
    await one.kill(sql);
    await expect.poll(() => lease.keep().catch(() => null)).toBe(true);
    expect(await isRefused(other)).toBe(true);
    await writes(lease);
  });

  test("of a process that froze is taken once it is over, with its sessions and its other leases", async () => {
    await using frozen = otherProcess(database.url);
    await using next = otherProcess(database.url);
    const [lead, run] = [await take(frozen), await take(frozen, "run")];
    // In the middle of a page.
    const open = later();
    const page = withTransaction(frozen.sql, async (tx) => {
      await run.assertHolds(tx);
      open.resolve();
      await tx`select pg_sleep(60)`;
    });
    const ended = expect(page).rejects.toThrow();
    await open.promise;
    expect(await isRefused(next)).toBe(true);
    await silence();
    expect((await take(next)).term).toBe(2);
    await ended;
    expect(await lead.keep()).toBe(false);
    expect(await run.keep()).toBe(false);
    await expect(writes(run)).rejects.toBeInstanceOf(LockedError);
    expect(isLease(await next.leases.take("run"))).toBe(true);
  });

  test("is taken over behind the open transactions of its holder, and renewed beside them", async () => {
    await using one = otherProcess(database.url);
    // Its sessions have no name by which they could be ended.
    const lease = await take(one);
    const order: string[] = [];
    const [begun, end] = [later(), later()];
    const writing = withTransaction(sql, async (tx) => {
      await lease.assertHolds(tx);
      expect(await lease.keep()).toBe(true);
      begun.resolve();
      await end.promise;
      order.push("written");
    });
    await begun.promise;
    await silence();
    await using other = otherProcess(database.url);
    const taking = take(other).then(() => order.push("taken"));
    await expect
      .poll(async () => (await sql`select from pg_locks where not granted`).length, { interval: 20 })
      .toBeGreaterThan(0);
    end.resolve();
    await Promise.all([writing, taking]);
    expect(order).toEqual(["written", "taken"]);
  });

  test("counts as held while a transaction of its holder does not end", { tags: ["long"] }, async () => {
    await using one = otherProcess(database.url);
    await using other = otherProcess(database.url);
    const lease = await take(one);
    await withTransaction(sql, async (tx) => {
      await lease.assertHolds(tx);
      await tx`update sync.leases set until = clock_timestamp() - interval '1 minute'`;
    });
    const [begun, end] = [later(), later()];
    const writing = withTransaction(sql, async (tx) => {
      await lease.assertHolds(tx);
      begun.resolve();
      await end.promise;
    });
    await begun.promise;
    expect(await other.leases.take("lead")).toMatchObject({ term: 1 });
    end.resolve();
    await writing;
    expect((await take(other)).term).toBe(2);
  });

  test("keeps a migration out, which keeps out others until it ends", async () => {
    await using one = otherProcess(database.url);
    const reserve = () => withTransaction(sql, (tx) => tryReserve(tx, "run"));
    expect(await reserve()).toBe(true);
    const lease = await take(one, "run");
    expect(await reserve()).toBe(false);
    await lease.release();
    await withTransaction(sql, async (tx) => {
      expect(await tryReserve(tx, "run")).toBe(true);
      expect(await isRefused(one, "run")).toBe(true);
    });
    // What froze before the migration writes nothing after it.
    await expect(writes(lease)).rejects.toBeInstanceOf(LockedError);
    expect((await take(one, "run")).term).toBeGreaterThan(lease.term);
  });
});

describe("a role", () => {
  test("that only reads can take none, and keeps nobody from one", async () => {
    await using reader = await createReader(database);
    await using intruder = otherProcess(reader.url);
    await expect(intruder.leases.take("run")).rejects.toMatchObject({ sqlstate: "42501" });
    await expect(intruder.sql`select from sync.leases for key share`).rejects.toMatchObject({
      code: "42501",
    });
    await using one = otherProcess(database.url);
    await take(one, "run");
  });

  test("that may not end the sessions of a silent holder says so, and takes its lease", async () => {
    const rights =
      "grant usage on schema sync to ROLE; grant select, insert, update on all tables in schema sync to ROLE";
    await using role = await createRole(database, rights);
    await using frozen = otherProcess(database.url);
    await take(frozen);
    await silence();
    const { log, messages } = createKeptLog();
    const waiting = createConnections(role.url, { program: "docmirror other", log });
    expect((await take(waiting)).term).toBe(2);
    expect(messages()).toEqual([expect.stringContaining("grant it pg_signal_backend")]);
    await waiting.end();
  });
});

describe.skipIf(PGBOUNCER === null)("a lease behind a PgBouncer", () => {
  test.each(["session", "transaction"])("in %s mode is held without a session of its own", async (mode) => {
    await using pooler = await startPooler(inject("databaseServer").adminUrl, { pool_mode: mode });
    await using one = otherProcess(pooler.url(database.url));
    await using other = otherProcess(pooler.url(database.url));
    const lease = await take(one);
    expect(await sql`select backend_pid from sync.leases`).toEqual([{ backend_pid: null }]);
    expect(await isRefused(other)).toBe(true);
    expect(await lease.keep()).toBe(true);
    await silence();
    expect((await take(other)).term).toBe(2);
    await expect.poll(() => lease.keep().catch(() => null)).toBe(false);
  });
});

describe("the lease of a run", () => {
  const { signal } = new AbortController();
  const wait = (over: Partial<Parameters<typeof takeRunLease>[1]> = {}) => ({
    clock: createFakeClock(),
    signal,
    log: silentLog,
    ...over,
  });

  /** A process with an open run of this kind. */
  async function running(kind: RunKind) {
    const holder = otherProcess(database.url);
    const lease = await take(holder, "run");
    await startRun(sql, kind, "2024-05-15T01:00:00Z", lease);
    return { ...holder, lease };
  }

  test("is refused with the run that has it, and its kind", async () => {
    await using sync = await running("full");
    await using next = otherProcess(database.url);
    await expect(next.takeRun()).rejects.toMatchObject({
      name: "LockedError",
      exitCode: 10,
      heldBy: "full",
      message: expect.stringMatching(/^another run is under way: run 1, process \d+ on .+, since \d{4}-.*Z$/),
      hint: expect.stringContaining("docmirror status"),
    });
    await sync.lease.release();
    await (await next.takeRun()).release();
  });

  test("names no run that a dead process left open", async () => {
    await using dead = await running("full");
    await dead.kill(sql);
    await using holder = otherProcess(database.url);
    await take(holder, "run");
    await using next = otherProcess(database.url);
    const clock = createFakeClock();
    await expect(takeRunLease(next, wait({ clock }))).rejects.toMatchObject({
      heldBy: null,
      message: expect.stringMatching(/^another run is under way: process \d+ on /),
    });
    // Its process may be about to begin one.
    expect(clock.sleeps).toHaveLength(4);
  });

  test("is waited for where a round of the watch has it, three minutes at most", {
    tags: ["long"],
  }, async () => {
    await using round = await running("watch");
    await using next = otherProcess(database.url);
    const waits: number[] = [];
    const clock = {
      now: () => new Date(),
      async sleep(ms: number) {
        if (waits.push(ms) === 3) await round.lease.release();
      },
    };
    const lease = await takeRunLease(next, wait({ clock, outlasts: true }));
    expect(waits).toEqual([250, 250, 250]);
    await lease.release();
    await using again = await running("watch");
    const patient = createFakeClock();
    await expect(takeRunLease(next, wait({ clock: patient, outlasts: true }))).rejects.toMatchObject({
      heldBy: "watch",
    });
    expect(patient.sleeps).toHaveLength(720);
    await again.lease.release();
  });

  test("is not waited for where a sync has it, nor after a stop", async () => {
    await using sync = await running("full");
    await using next = otherProcess(database.url);
    const clock = createFakeClock();
    await expect(takeRunLease(next, wait({ clock, outlasts: true }))).rejects.toMatchObject({
      heldBy: "full",
    });
    expect(clock.sleeps).toEqual([]);
    await sync.lease.release();
    await using round = await running("watch");
    const held = createFakeClock({ holds: true });
    const stop = new AbortController();
    const waiting = takeRunLease(next, wait({ clock: held, signal: stop.signal, outlasts: true }));
    await held.slept(1);
    const reason = new Error("enough");
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await round.lease.release();
  });

  test("is taken in the next session when the server ends the one in which it is asked for", async () => {
    await using holder = await running("watch");
    await using next = otherProcess(database.url);
    let ended = 0;
    const clock = {
      now: () => new Date(),
      async sleep(ms: number, of?: AbortSignal) {
        if (ended++ === 0) await next.kill(sql);
        else if (ended === 4) await holder.lease.release();
        await systemClock.sleep(Math.min(ms, 10), of);
      },
    };
    const lease = await takeRunLease(next, wait({ clock, outlasts: true }));
    expect(ended).toBeGreaterThanOrEqual(4);
    await lease.release();
  });

  test("is reported at once where no server answers", async () => {
    const nowhere = createConnections("postgres://127.0.0.1:1/nowhere", {
      program: "docmirror",
      log: silentLog,
    });
    await expect(takeRunLease(nowhere, wait())).rejects.toMatchObject({
      message: "Cannot reach Postgres at 127.0.0.1:1",
    });
    await nowhere.end();
  });

  test("lets only its holder open a run, and write pages for it", async () => {
    await using dead = await running("full");
    await dead.kill(sql);
    await using next = await running("incremental");
    expect(await sql`select id, status, term from sync.runs order by id`).toEqual([
      { id: 1, status: "interrupted", term: 1 },
      { id: 2, status: "running", term: 2 },
    ]);
    const again = startRun(sql, "full", "2024-05-15T02:00:00Z", dead.lease);
    await expect(again).rejects.toBeInstanceOf(LockedError);
    await next.lease.release();
  });
});
