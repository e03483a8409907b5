import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "../../src/store/connection/sql.ts";
import { findHolder, type Holder } from "../../src/store/ledger/leases.ts";
import { pageOf, startCli } from "./cli.ts";

export type WorkerProcess = Awaited<ReturnType<typeof startWorker>>;

/** Starts a worker and waits until it serves, whether it leads or not; `page` is the address of its page. */
export async function startWorker(databaseUrl: string, args: readonly string[]) {
  const cli = startCli(["worker", "--http-port", "0", ...args], { env: { DATABASE_URL: databaseUrl } });
  let page = "";
  try {
    page = await pageOf(cli);
    await cli.waitFor("stderr", /the worker is up/);
  } catch (error) {
    await cli[Symbol.asyncDispose]();
    throw error;
  }
  return {
    cli,
    page,
    pid: cli.child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      cli.signal("SIGCONT");
      await cli[Symbol.asyncDispose]();
    },
  };
}

/** Waits until another process than `notPid` leads. Fails after a minute, as nobody may wait longer. */
export async function awaitLeader(sql: Sql, notPid = 0): Promise<Holder> {
  const from = performance.now();
  for (;;) {
    const leader = await findHolder(sql, "lead");
    if (leader !== null && leader.pid !== notPid) return leader;
    if (performance.now() - from > 60_000) throw new Error("nobody took the lead within a minute");
    await delay(100);
  }
}

/**
 * Notes each page that a run stores, each run of a process that does not lead, and when each run began and ended by the clock of Postgres, as they
 * happen: with it `findLedgerFaults` sees who did what, whatever the ledger and the workers' clocks say.
 */
export function noteWrites(sql: Sql): Promise<unknown> {
  return sql.unsafe(`
    create schema watched;
    create table watched.writes (id bigint generated always as identity, run_id bigint not null);
    create function watched.note() returns trigger language plpgsql as
      'begin insert into watched.writes (run_id) values (new.run_id); return null; end';
    create trigger note after update on sync.walks for each row execute function watched.note();
    create table watched.strangers (run_id bigint not null, pid int not null, leader_pid int);
    create function watched.note_stranger() returns trigger language plpgsql as
      'begin
        insert into watched.strangers
        select new.id, new.pid, max(pid) from sync.leases where name = ''lead'' having max(pid) is distinct from new.pid;
        return null;
      end';
    create trigger note_stranger after insert on sync.runs for each row execute function watched.note_stranger();
    create table watched.runs (
      run_id bigint primary key, kind text, status text, pid int, is_astray boolean, began_at timestamptz, ended_at timestamptz
    );
    create function watched.note_run() returns trigger language plpgsql as
      'begin
        if tg_op = ''INSERT'' then
          insert into watched.runs values (new.id, new.kind, new.status, new.pid,
            abs(extract(epoch from new.started_at - clock_timestamp())) > 300, clock_timestamp(), null);
        else
          update watched.runs set status = new.status, ended_at = clock_timestamp() where run_id = new.id;
        end if;
        return null;
      end';
    create trigger note_run_began after insert on sync.runs for each row execute function watched.note_run();
    create trigger note_run_ended after update of status on sync.runs for each row when (old.status <> new.status)
      execute function watched.note_run()`);
}

/**
 * `isAstray`: its process' clock was wrong. `goodFrom` is when the first of its lists was begun, by an earlier run where it was
 * resumed; null unless it read all lists well.
 */
type NotedRun = { id: number; kind: string; status: string; began: string; isAstray: boolean } & Record<
  "ended" | "goodFrom",
  string | null
>;
type DueTimes = Record<"everyMs" | "from" | "until" | "withinMs", number> & { brokenAt?: readonly number[] };

/**
 * What is wrong with the ledger of a sync that was due each `everyMs` since `from`: a due time that was done twice, or not within `withinMs`,
 * two runs at a time, or a write of a run after a later one wrote. A leader that breaks meanwhile, at one of `brokenAt`, begins that time anew.
 * By a clock that was wrong a run is due again. Dates are in milliseconds, and by the clock of Postgres.
 */
export async function findLedgerFaults(sql: Sql, due: DueTimes): Promise<string[]> {
  const runs = await sql<NotedRun[]>`
    select run_id as id, kind, status, began_at as began, ended_at as ended, is_astray as "isAstray", (
      select case when count(*) = 5 then min(first.began_at) end
      from sync.walks join watched.runs as first on first.run_id = walks.began_run_id
      where walks.run_id = runs.run_id and is_good
    ) as "goodFrom"
    from watched.runs order by run_id`;
  const late = await sql<{ runId: number; newest: number }[]>`
    select distinct run_id as "runId", newest from (
      select run_id, max(run_id) over (order by id) as newest from watched.writes
    ) as writes where run_id < newest`;
  const strangers = await sql<{ runId: number; pid: number; leaderPid: number | null }[]>`
    select run_id as "runId", pid, leader_pid as "leaderPid" from watched.strangers order by run_id`;
  return [
    ...late.map(({ runId, newest }) => `run ${runId} wrote after run ${newest} did`),
    ...strangers.map(
      ({ runId, pid, leaderPid }) => `run ${runId} is of process ${pid}, but ${leaderPid} led`,
    ),
    ...runs.flatMap((run, index) => {
      const next = runs[index + 1];
      const overlaps = next && (run.ended === null || Date.parse(run.ended) > Date.parse(next.began));
      return overlaps ? [`run ${run.id} was under way when run ${next.id} began`] : [];
    }),
    ...findDueFaults(runs, due),
  ];
}

function findDueFaults(
  runs: readonly NotedRun[],
  { everyMs, from, until, withinMs, brokenAt = [] }: DueTimes,
): string[] {
  const faults: string[] = [];
  const good = runs
    .filter(({ kind, status, goodFrom }) => kind !== "watch" && status === "succeeded" && goodFrom !== null)
    .map((run) => ({ ...run, began: Date.parse(run.began), goodFrom: Date.parse(run.goodFrom ?? "") }));
  let done = 0;
  let wasAstray = false;
  for (const { id, began, goodFrom, isAstray } of good) {
    const due = Math.floor(began / everyMs) * everyMs;
    if (done >= due && !isAstray && !wasAstray)
      faults.push(`run ${id} did what was due at ${new Date(due).toISOString()} a second time`);
    done = Math.max(done, goodFrom);
    wasAstray = isAstray;
  }
  for (let due = Math.ceil(from / everyMs) * everyMs; due < until; due += everyMs) {
    const doneBy = brokenAt.reduce((by, at) => (at > due && at < by ? at + withinMs : by), due + withinMs);
    if (doneBy < until && !good.some(({ goodFrom }) => goodFrom >= due && goodFrom <= doneBy))
      faults.push(`what was due at ${new Date(due).toISOString()} was not done`);
  }
  return faults;
}
