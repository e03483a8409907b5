/** The faults of `workers.ts`: what happens to three workers, their servers and their clocks. */
import { setTimeout as delay } from "node:timers/promises";
import type { Random } from "../../src/simulate/random.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { startCli } from "../../test/support/cli.ts";
import type { KeptWorker } from "./kept-workers.ts";
import type { MirrorServers } from "./mirror-servers.ts";

/** A short one keeps the lead, a long one loses it. */
const FROZEN_MS = [5000, 40_000, 50_000] as const;
/** In whole cron lines, so that due times stay where they are. */
const TWENTY_YEARS_S = 20 * 365 * 86_400;
const SHARED_SESSIONS =
  /ended by itself with 4\b.*a pooler in transaction mode gives one session to several/s;
/** At its start a worker cannot know that its password was ever right. */
const REFUSED_AT_START =
  /ended by itself with 4 before it was up:.*Postgres refuses the user or the password/s;
/** What keeps a lease, a refresh or a migration from others, where a role may do it. */
const LOCKS = [
  "select from sync.leases for update",
  "update sync.leases set until = 'infinity'",
  "lock table sync.leases in share mode",
  "lock table rollup.state in share row exclusive mode",
  "lock table sync.migrations in share row exclusive mode",
];
const TABLE_LOCKS = ["share", "access exclusive"] as const;
/** What a reader may try. Each is refused, or changes nothing that others see. */
const TRIALS = [
  "set default_transaction_read_only = off; set statement_timeout = 0",
  "delete from mirror.builds",
  "insert into rollup.state default values",
  "truncate report.dim_dates",
  "create table report.mine (id int)",
  "create temporary table mine as select generate_series(1, 100000)",
  "select lo_create(0)",
  "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'mirror'",
  "select pg_notify('docmirror_run', '0')",
  "select count(*) from report.fact_builds cross join report.dim_dates",
];
const MIRROR_TABLES = ["builds", "files", "projects", "users", "versions", "build_transitions"] as const;

export interface WorkerFaultsDeps {
  workers: readonly KeptWorker[];
  servers: MirrorServers;
  random: Random;
  /** Asks the primary. */
  ask<T extends object[]>(statement: string): Promise<T[number][]>;
  print(line: string): void;
  fail(line: string): void;
}

/** Makes a fault, and returns when it is over, with what it was. */
type Happen = () => Promise<string>;

/** Faults at random, which `workers.ts` lets happen. */
export function createWorkerFaults({ workers, servers, random, ask, print, fail }: WorkerFaultsDeps) {
  const counts: Record<string, number> = {};
  const brokenAt: number[] = [];
  let rows: Record<string, number> = {};
  /** What happens to the servers takes turns. */
  let turn: Promise<unknown> = Promise.resolve();
  const seenEndings = new Set<string>();

  const secondsFrom = (least: number, most: number) => (least + random.next() * (most - least)) * 1000;

  /** The leader, three times of four, else another one. */
  async function chooseWorker(): Promise<[KeptWorker, string]> {
    const wantsLeader = random.chance(0.75);
    const any = random.int(workers.length);
    const [row] = await ask<{ pid: number }[]>(
      "select pid from sync.leases where name = 'lead' and until > '-infinity'",
    ).catch(() => []);
    const leader = workers.find((worker) => worker.pid() !== undefined && worker.pid() === row?.pid);
    const others = workers.filter((worker) => worker !== leader);
    const chosen = (wantsLeader && leader) || others[any % others.length] || workers[0];
    if (!chosen) throw new Error("there is no worker");
    return [chosen, `${chosen === leader ? "the leader" : "another"}, ${chosen.name},`];
  }

  const KINDS: Record<string, Happen> = {
    async kill() {
      const [worker, who] = await chooseWorker();
      await worker.end("SIGKILL");
      return `${who} was killed`;
    },
    async stop() {
      const [worker, who] = await chooseWorker();
      await worker.end("SIGTERM");
      return `${who} was stopped`;
    },
    async freeze() {
      const ms = FROZEN_MS[random.int(FROZEN_MS.length)] ?? 5000;
      const [worker, who] = await chooseWorker();
      await worker.freeze(ms);
      return `${who} was frozen for ${ms / 1000} s`;
    },
    async clock() {
      const years = random.chance(0.5) ? 20 : -20;
      const ms = secondsFrom(10, 50);
      const all = random.chance(0.3);
      const [one, who] = await chooseWorker();
      const jumps = all ? workers : [one];
      for (const worker of jumps) worker.setAhead((years / 20) * TWENTY_YEARS_S);
      await delay(ms);
      for (const worker of jumps) worker.setAhead(0);
      return `the clock of ${all ? "all" : who} was wrong by ${years} years for ${Math.round(ms / 1000)} s`;
    },
    rotate: () => {
      const ms = secondsFrom(2, 40);
      return inTurn(async () => {
        await servers.rotate();
        await delay(ms);
        await servers.tellPassword();
        return `the password changed, and its file ${Math.round(ms / 1000)} s later`;
      });
    },
    restart: () => {
      const ms = secondsFrom(0, 20);
      return inTurn(async () => {
        await servers.restart(ms);
        return `Postgres was down for ${Math.round(ms / 1000)} s`;
      });
    },
    promote: () => {
      const ms = secondsFrom(0, 20);
      return inTurn(async () => {
        await servers.promote(ms);
        return `the primary died, and the standby took over after ${Math.round(ms / 1000)} s`;
      });
    },
    async locks() {
      const ms = secondsFrom(5, 40);
      await asReader(async (sql) => {
        for (const lock of LOCKS)
          await sql.unsafe(lock).then(
            () => fail(`a reader could: ${lock}`),
            () => {},
          );
        await delay(ms);
      });
      return `a reader tried to get each lock for ${Math.round(ms / 1000)} s`;
    },
    async table() {
      const ms = secondsFrom(5, 40);
      const [table, mode] = [random.pick(MIRROR_TABLES), random.pick(TABLE_LOCKS)];
      await asStranger(servers.adminUrl(), (sql) =>
        sql.begin(async (tx) => {
          await tx.unsafe(`lock table mirror.${table} in ${mode} mode`);
          await delay(ms);
        }),
      );
      return `mirror.${table} was locked in ${mode} mode for ${Math.round(ms / 1000)} s`;
    },
    async reader() {
      let refused = 0;
      await asReader(async (sql) => {
        for (const trial of TRIALS)
          await sql.unsafe(trial).catch(() => {
            refused += 1;
          });
      });
      return `a reader tried ${TRIALS.length} things, ${refused} were refused`;
    },
    pooler: () => {
      const isShared = random.chance(0.5);
      const ms = secondsFrom(5, 30);
      return inTurn(async () => {
        if (isShared) {
          await servers.restartPooler("transaction");
          await delay(ms);
          await readOverPooler();
        }
        await servers.restartPooler("session");
        return isShared
          ? `the pooler shared sessions for ${Math.round(ms / 1000)} s`
          : "the pooler restarted";
      });
    },
  };

  /** A session that is no mirror's. Other faults may cut it. */
  const asStranger = (url: string, use: (sql: Sql) => Promise<unknown>) =>
    withSql(url, { applicationName: "psql", max: 1 }, use).catch(() => {});

  const asReader = (use: (sql: Sql) => Promise<unknown>) => asStranger(servers.readerUrl(), use);

  /** Commands that only read take any pooler. */
  async function readOverPooler(): Promise<void> {
    const { passwordFile } = servers;
    const env = { DATABASE_URL: servers.pooledUrl(), DOCMIRROR_DATABASE_PASSWORD_FILE: passwordFile };
    const { code, stderr } = await startCli(["status", "--json"], { env }).ended;
    if (code !== 0) fail(`status over a pooler that shares sessions ended with ${code}: ${stderr}`);
  }

  function inTurn(happen: Happen): Promise<string> {
    const mine = turn.then(happen);
    turn = mine.catch(() => {});
    return mine;
  }

  async function breakOne(): Promise<void> {
    const kinds = Object.keys(KINDS);
    const kind = kinds[random.int(kinds.length)] ?? "kill";
    counts[kind] = (counts[kind] ?? 0) + 1;
    brokenAt.push(Date.now());
    const what = await KINDS[kind]?.();
    brokenAt.push(Date.now());
    print(what ?? "");
  }

  /** A worker ends by itself where a pooler shares sessions, or where it starts with the password of before, and nowhere else. */
  function lookAtEndings(): void {
    for (const ending of workers.flatMap((worker) => worker.endedByItself())) {
      const isMeant = SHARED_SESSIONS.test(ending) || REFUSED_AT_START.test(ending);
      if (!seenEndings.has(ending) && !isMeant) fail(ending);
      seenEndings.add(ending);
    }
  }

  async function untilSync(): Promise<void> {
    const running = "select from sync.runs where status = 'running' and kind <> 'watch'";
    for (let tries = 0; tries < 300 && (await ask(running)).length === 0; tries++) await delay(50);
  }

  async function countRows(): Promise<Record<string, number>> {
    const each = MIRROR_TABLES.map((table) => `(select count(*)::int from mirror.${table}) as ${table}`);
    const [row] = await ask<Record<string, number>[]>(`select ${each.join(", ")}`);
    return row ?? {};
  }

  return {
    /** How many there were, by kind. */
    counts: () => counts,
    /** When each began, and when it was over, in milliseconds, ascending. */
    brokenAt: () => brokenAt.toSorted((one, other) => one - other),
    /** One fault, or two at once. Returns when they are over. */
    async breakSome(): Promise<void> {
      rows = await countRows();
      if (random.chance(0.6)) await untilSync();
      await delay(random.int(3000));
      const happening = [breakOne()];
      if (random.chance(0.3)) {
        await delay(random.int(3000));
        happening.push(breakOne());
      }
      await Promise.all(happening);
    },
    /** Of what was committed before the last faults. */
    async assertNothingLost(): Promise<void> {
      const now = await countRows();
      for (const [table, count] of Object.entries(rows))
        if ((now[table] ?? 0) < count) fail(`${table} had ${count} rows and has ${now[table]}`);
      lookAtEndings();
    },
    /** Waits for what happens to the servers. */
    async close(): Promise<void> {
      await turn;
    },
  };
}
