import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { LockedError, StoreError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { connect } from "../../../src/store/connection/connect.ts";
import { withTransaction } from "../../../src/store/connection/sql.ts";
import {
  createLeaderLock,
  findLeader,
  type LeaderLock,
  type Term,
} from "../../../src/store/ledger/leader.ts";
import { startRun } from "../../../src/store/ledger/run-ledger.ts";
import { acquireRunLock } from "../../../src/store/ledger/run-lock.ts";
import type { RunKind } from "../../../src/store/schema/runs.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { createKeptLog } from "../../support/quick-world.ts";
import { createRole } from "../../support/roles.ts";
import { later } from "../../support/tally.ts";
import { useDatabase } from "../../support/use-database.ts";

const database = useDatabase(() => createTestDatabase({ max: 2 }), "test");
const { sql } = database;
const locks: LeaderLock[] = [];
const release = async () => {
  for (const lock of locks.splice(0)) await lock.release();
};
afterEach(release);

function createProcess(log = silentLog, url = database.url) {
  const lock = createLeaderLock(log);
  locks.push(lock);
  const own = lock.nameSessions(url);
  return {
    url: own,
    lock,
    take: () => lock.take(own),
    async lead(): Promise<Term> {
      const taken = await lock.take(own);
      if (taken instanceof LockedError) throw taken;
      return taken;
    },
  };
}

/** As if the leader had been frozen a minute ago. */
const silenceLeader = () => sql`
  update sync.leader set heartbeat_at = clock_timestamp() - interval '1 minute'`;

describe("the lead", () => {
  test("is that of one process; the next one is told who has it, and gets it when that one resigns", async () => {
    const [one, other] = [createProcess(), createProcess()];
    const term = await one.lead();
    expect(term).toMatchObject({ number: 1, interrupted: [] });
    expect(await findLeader(sql)).toMatchObject({ pid: process.pid, term: 1 });
    const refused = await other.take();
    expect(refused).toBeInstanceOf(LockedError);
    const message = `another worker leads on this database: process ${process.pid} on [^#]+, since \\d{4}-`;
    expect(String(refused)).toMatch(new RegExp(message));
    expect(await term.keep(one.url)).toBe(true);
    await term.resign();
    await term.resign();
    expect(await findLeader(sql)).toBeNull();
    expect(await term.keep(one.url)).toBe(false);
    expect(await other.lead()).toMatchObject({ number: 2 });
    expect(await findLeader(sql)).toMatchObject({ term: 2 });
  });

  test("is kept by a process whose session died, when nobody led since", async () => {
    const one = createProcess();
    const term = await one.lead();
    await endLeadSessions();
    await expect.poll(() => term.keep(one.url).catch(() => null)).toBe(true);
    expect(await createProcess().take()).toBeInstanceOf(LockedError);
  });

  test("is lost for good by a process whose session died, when another one took it", async () => {
    const [one, other] = [createProcess(), createProcess()];
    const term = await one.lead();
    await endLeadSessions();
    await other.lead();
    await expect.poll(() => term.keep(one.url).catch(() => null)).toBe(false);
    expect(await term.keep(one.url)).toBe(false);
    await expect(withTransaction(sql, term.assertLeads)).rejects.toBeInstanceOf(LockedError);
  });

  test("is not known while Postgres does not answer", async () => {
    const one = createProcess();
    const term = await one.lead();
    await expect(term.keep("postgres://127.0.0.1:1/nowhere")).rejects.toBeInstanceOf(StoreError);
    expect(await term.keep(one.url)).toBe(true);
  });

  test("of a silent process is taken: its sessions end, with their locks, and its run is closed", async () => {
    const [frozen, next] = [createProcess(), createProcess()];
    const term = await frozen.lead();
    const own = connect(frozen.url, { applicationName: "docmirror sync", max: 1 });
    const { runId } = await startRun(own, "full", new Date().toISOString(), term.assertLeads);
    // In the middle of a page: it holds the row of its run.
    await own.unsafe(`begin; select from sync.runs where id = ${runId} for share`);
    await silenceLeader();
    expect(await next.lead()).toMatchObject({ number: 2, interrupted: [runId] });
    expect(await sql`select status, error from sync.runs`).toEqual([
      { status: "interrupted", error: "another worker took the lead" },
    ]);
    await own`select 1`.catch(() => {});
    const opening = startRun(own, "watch", new Date().toISOString(), term.assertLeads);
    await expect(opening).rejects.toBeInstanceOf(LockedError);
    expect(await sql`select id from sync.runs`).toHaveLength(1);
    await own.end({ timeout: 1 });
  });

  test("is not taken from a process that is heard, however often others ask", async () => {
    const [one, other] = [createProcess(), createProcess()];
    const term = await one.lead();
    for (let time = 0; time < 3; time++) expect(await other.take()).toBeInstanceOf(LockedError);
    expect(await term.keep(one.url)).toBe(true);
  });

  test("is never taken from a version of docmirror without a heartbeat", async () => {
    const old = connect(database.url, { applicationName: "docmirror lead 4711 on host", max: 1 });
    await old`select pg_advisory_lock(7237112447779369584)`;
    // The last leader of this version is long gone.
    await sql`insert into sync.leader (term, instance, pid, host, backend_pid, since, heartbeat_at)
      select 1, 'abcdef', 1, 'host', pid, now() - interval '1 day', now() - interval '1 day'
      from pg_stat_activity where application_name = 'docmirror lead 4711 on host' and datname = current_database()`;
    const refused = await createProcess().take();
    expect(String(refused)).toContain("process 4711 on host, since ");
    await old`select 1`;
    await old.end({ timeout: 1 });
  });

  test("is taken from a process that froze between the lock and its term", {
    tags: ["long", "exhaustive"],
  }, async () => {
    const frozen = connect(database.url, { applicationName: "docmirror lead 4711 on host #frozen", max: 1 });
    await frozen`select pg_advisory_lock(7237112447779369584)`;
    const next = createProcess();
    expect(await next.take()).toBeInstanceOf(LockedError);
    const ask = async () => (await next.take()) instanceof LockedError;
    await expect.poll(ask, { interval: 1000 }).toBe(false);
    await frozen.end({ timeout: 1 });
  });

  test("waits for the open transaction that begins a run, and closes that run", async () => {
    const [one, other] = [createProcess(), createProcess()];
    const term = await one.lead();
    // Its sessions have no name by which they could be ended.
    const begun = later();
    const opened = startRun(sql, "full", new Date().toISOString(), async (tx) => {
      await term.assertLeads(tx);
      begun.resolve();
      await tx`select pg_sleep(0.5)`;
    });
    await begun.promise;
    await endLeadSessions();
    const { interrupted } = await other.lead();
    expect(interrupted).toEqual([(await opened).runId]);
  });
});

test("a role that may not end the sessions of a silent leader says so once, and waits", async () => {
  const rights =
    "grant usage on schema sync to ROLE; grant select, insert, update on all tables in schema sync to ROLE";
  await using role = await createRole(database, rights);
  try {
    const { log, messages } = createKeptLog();
    const waiting = createProcess(log, role.url);
    const frozen = createProcess();
    const term = await frozen.lead();
    await silenceLeader();
    for (let time = 0; time < 3; time++) expect(await waiting.take()).toBeInstanceOf(LockedError);
    expect(messages()).toEqual([expect.stringContaining("grant it pg_signal_backend")]);
    expect(await term.keep(frozen.url)).toBe(true);
  } finally {
    await release();
  }
});

/** From outside, so that the process learns it only when it asks next. */
const endLeadSessions = () => sql`
  select pg_terminate_backend(pid, 10000) from pg_stat_activity
  where datname = current_database() and application_name like 'docmirror lead %'`;

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
    message: expect.stringMatching(/^another run holds the lock: session \d+ \(docmirror lock\) of role /),
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
    message: expect.stringMatching(/^another run holds the lock: session \d+ \(docmirror lock\) of role /),
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
