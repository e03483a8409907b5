/**
 * `npm run test:workers`: three worker processes on one mirror of a living service, with a sync every ten seconds. At random moments one of
 * them, mostly the leader, is killed, stopped and started again, or frozen for a while. All the time the pages of the others must answer. In
 * the end the world stands still, and no due time was done twice or missed, no two runs overlapped, and the mirror equals the truth.
 *
 * Options: `--faults 50`, `--seed 1`. Prints a line a fault; exits 1 on any difference.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createRandom } from "../../src/simulate/random.ts";
import { startSimulation } from "../../src/simulate/service.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { createWorld } from "../../src/simulate/world.ts";
import { replaceDatabase, withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { findLeader } from "../../src/store/ledger/find-leader.ts";
import { runCli } from "../../test/support/cli.ts";
import { startDatabaseServer } from "../../test/support/database-server.ts";
import {
  awaitLeader,
  findLedgerFaults,
  noteWrites,
  startWorker,
  type WorkerProcess,
} from "../../test/support/several-workers.ts";
import { findDifferences } from "../judge/records.ts";

const { values } = parseArgs({
  options: { faults: { type: "string", default: "50" }, seed: { type: "string", default: "1" } },
});
const count = Number(values.faults);
const seed = Number(values.seed);
if (!(count > 0) || !Number.isInteger(seed))
  throw new Error("--faults takes a number above 0, --seed a whole number");
const print = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const random = createRandom(seed);

const WORKERS = 3;
const EVERY_MS = 10_000;
/** Who takes over has 45 s: a heartbeat that stops for 30 s, a look, a slow machine. Then it reads every list. */
const WITHIN_MS = 60_000;
/** A short one keeps its lead, a long one loses it. */
const FROZEN_MS = [3000, 12_000, 40_000] as const;
const FAULTS = ["kill", "kill", "stop", "freeze", "freeze"] as const;
/** A virtual hour a minute. */
const SPEED = 60;

const server = await startDatabaseServer(process.env.TEST_DATABASE_URL);
print(`on ${server.description}, ${count} faults, seed ${seed}`);
const admin = (statement: string) =>
  withSql(server.adminUrl, { applicationName: "docmirror soak", max: 1 }, (sql) => sql.unsafe(statement));
const name = `docmirror_workers_${seed}_${process.pid}`;
await admin(`create database ${name} template ${server.template}`);
const databaseUrl = replaceDatabase(server.adminUrl, name);

const sizes = { users: 60, projects: 40, versions: 200, files: 150, builds: 900 };
const world = createWorld({
  ...{ ...sizes, seed, startAt: new Date(), outputBytes: 300, clockSteps: false },
  rates: { ...QUIET, builds: 1500, logins: 200 },
});
let simulation = await startSimulation({ world, speed: SPEED, latencyMs: 80 });
const args = [
  ...["--base-url", simulation.url, "--sync-cron", "*/10 * * * * *", "--watch-cron", "*/3 * * * * *"],
  ...["--rate", "0", "--page-size", "20", "--concurrency", "2", "--replica-lag", "0s"],
];

const workers = new Set<WorkerProcess>();
/** These may not answer before that moment, in milliseconds. */
const away = new Map<WorkerProcess, number>();
const isAway = (worker: WorkerProcess) => (away.get(worker) ?? 0) > Date.now();
const done: Record<string, number> = {};
let answers = 0;
const faults: string[] = [];
/** When the leader was killed, stopped or frozen, in milliseconds. */
const brokenAt: number[] = [];

function fail(line: string): void {
  faults.push(line);
  print(`  ${line}`);
}

async function start(): Promise<void> {
  const worker = await startWorker(databaseUrl, args);
  workers.add(worker);
  void worker.cli.ended.then(({ code, stderr }) => {
    // Ended by itself.
    if (workers.has(worker)) fail(`process ${worker.pid} ended with ${code}:\n${stderr.slice(-2000)}`);
  });
}

/** Until `signal` is aborted, asks every worker that is well for its page. */
async function readPages(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const worker of [...workers].filter((one) => !isAway(one))) {
      const status = await fetch(worker.page, { signal: AbortSignal.timeout(20_000) }).then(
        (reply) => reply.text().then(() => reply.status),
        (error: unknown) => String(error),
      );
      answers += 1;
      // It may have been asked as it went.
      if (status !== 200 && workers.has(worker) && !isAway(worker))
        fail(`the page of process ${worker.pid} answered ${status}`);
    }
    await delay(500);
  }
}

async function awaitSync(sql: Sql, pid: number): Promise<void> {
  for (const from = performance.now(); performance.now() - from < EVERY_MS + 5000; await delay(20)) {
    const running =
      await sql`select from sync.runs where status = 'running' and kind <> 'watch' and pid = ${pid}`;
    if (running.count > 0) return;
  }
}

async function breakOne(sql: Sql, nth: number): Promise<void> {
  const { pid } = await awaitLeader(sql);
  const isLeader = random.chance(0.75);
  const worker = [...workers].find((one) => (one.pid === pid) === isLeader);
  if (worker === undefined) return;
  const kind = FAULTS[random.int(FAULTS.length)] ?? "kill";
  const isInRun = random.chance(0.6);
  if (isInRun) await awaitSync(sql, pid);
  await delay(random.int(isInRun ? 1200 : 4000));
  away.set(worker, Number.POSITIVE_INFINITY);
  done[kind] = (done[kind] ?? 0) + 1;
  if (isLeader) brokenAt.push(Date.now());
  if (kind === "freeze") {
    const frozenMs = FROZEN_MS[random.int(FROZEN_MS.length)] ?? 3000;
    worker.cli.signal("SIGSTOP");
    await delay(frozenMs);
    worker.cli.signal("SIGCONT");
    // Its connections are gone; it finds new ones.
    away.set(worker, Date.now() + 10_000);
    print(`${nth} froze ${isLeader ? "the leader" : "another"} for ${frozenMs / 1000} s`);
    return;
  }
  workers.delete(worker);
  worker.cli.signal(kind === "kill" ? "SIGKILL" : "SIGTERM");
  const { code } = await worker.cli.ended;
  if (code !== null && code !== 143) fail(`process ${worker.pid} ended with ${code}`);
  print(`${nth} ${kind === "kill" ? "killed" : "stopped"} ${isLeader ? "the leader" : "another"}`);
  await start();
}

async function printLedger(sql: Sql): Promise<void> {
  const runs = await sql<{ line: string }[]>`
    select concat_ws(' ', id, kind, status, pid, to_char(started_at, 'HH24:MI:SS'), to_char(finished_at, 'HH24:MI:SS'), error) as line
    from sync.runs where kind <> 'watch' order by id`;
  for (const { line } of runs) print(`  run ${line}`);
}

const reading = new AbortController();
try {
  await withSql(databaseUrl, { applicationName: "docmirror soak", max: 2 }, async (sql) => {
    await noteWrites(sql);
    const from = Date.now();
    for (let nth = 0; nth < WORKERS; nth++) await start();
    await awaitLeader(sql);
    const pages = readPages(reading.signal);
    for (let nth = 1; nth <= count; nth++) await breakOne(sql, nth);

    const port = Number(new URL(simulation.url).port);
    await simulation.close();
    simulation = await startSimulation({ world, port });
    const still = Date.now() + 2000;
    for (const began = performance.now(); ; await delay(500)) {
      // Begun after the world stood still, by all of its walks.
      const [last] = await sql<{ from: string | null }[]>`
        select min(started_at) as from from sync.walks where is_good group by run_id
        having count(*) = 5 order by run_id desc limit 1`;
      if (last?.from && Date.parse(last.from) > still) break;
      if (performance.now() - began > 120_000) throw new Error("no sync after the world stood still");
    }
    reading.abort();
    await pages;
    faults.push(
      ...(await findLedgerFaults(sql, {
        everyMs: EVERY_MS,
        from,
        until: Date.now(),
        withinMs: WITHIN_MS,
        brokenAt,
      })),
    );
    const leader = await findLeader(sql);
    for (const worker of workers) {
      workers.delete(worker);
      worker.cli.signal("SIGTERM");
      const { code } = await worker.cli.ended;
      if (code !== 143) fail(`process ${worker.pid} ended with ${code}`);
    }
    // Open builds are asked for now and then; this reads them all.
    const full = await runCli(
      ["sync", "--full", "--base-url", simulation.url, "--rate", "0", "--replica-lag", "0s"],
      {
        env: { DATABASE_URL: databaseUrl },
      },
    );
    if (full.code !== 0) faults.push(`the last sync ended with ${full.code}: ${full.stderr}`);
    faults.push(...(await findDifferences(databaseUrl, world)));
    const runs = await sql<{ kind: string; status: string; count: number }[]>`
      select kind, status, count(*) from sync.runs group by kind, status order by kind, status`;
    print(`faults     ${JSON.stringify(done)}, ${leader?.term ?? 0} terms, ${answers} answers of pages`);
    print(`runs       ${runs.map((run) => `${run.kind} ${run.status}: ${run.count}`).join(", ")}`);
    if (faults.length > 0) await printLedger(sql);
  });
} catch (error) {
  fail(String(error));
} finally {
  reading.abort();
  const left = [...workers];
  workers.clear();
  for (const worker of left) await worker[Symbol.asyncDispose]();
  await simulation.close();
  await admin(`drop database ${name} with (force)`);
  await server.stop();
}
print(`differences ${faults.length}${faults.length > 0 ? `, seed ${seed}` : ""}`);
for (const line of faults.slice(0, 50)) print(`  ${line}`);
process.exitCode = faults.length === 0 ? 0 : 1;
