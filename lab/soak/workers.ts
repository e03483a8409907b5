/**
 * `npm run test:workers`: three worker processes on one mirror of a living service, with a sync every ten seconds, and two servers of Postgres, of which one
 * is a standby. At random a worker, mostly the leader, is killed, stopped or frozen, or its clock jumps by twenty years; the password changes; Postgres
 * restarts; the standby takes over; the pooler of one worker restarts, or shares sessions for a while; a reader keeps all locks that anybody may take, or
 * tries what it may not do; a table is locked by a stranger. Sometimes two of these come at once. A publication has all tables, each minute the leader
 * writes a backup, and one request of fifty goes wrong.
 *
 * In the end the world stands still, and no row was lost, no due time was done twice or missed, no two runs overlapped, no worker was silent for
 * 30 s or had 300 MB, and the mirror equals the truth. Needs a whole Postgres, PgBouncer and libfaketime, on Linux.
 *
 * Options: `--minutes 10`, `--seed 1`. Prints a line a fault; exits 1 on anything wrong.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createRandom } from "../../src/simulate/random.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import { findHolder } from "../../src/store/ledger/leases.ts";
import { runCli } from "../../test/support/cli.ts";
import { PGBOUNCER } from "../../test/support/pgbouncer.ts";
import { findLedgerFaults, noteWrites } from "../../test/support/several-workers.ts";
import { createWorld, startSimulation } from "../../test/support/simulation.ts";
import { POSTGRES_BIN } from "../../test/support/system-postgres.ts";
import { findDifferences } from "../judge/records.ts";
import { createFaults } from "./faults.ts";
import { FAKETIME, keepWorker } from "./kept-workers.ts";
import { READER, startMirrorServers } from "./mirror-servers.ts";
import { createWorkerFaults } from "./worker-faults.ts";

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "10" }, seed: { type: "string", default: "1" } },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
if (!(minutes > 0) || !Number.isInteger(seed))
  throw new Error("--minutes takes a number above 0, --seed a whole number");
if (POSTGRES_BIN === null || PGBOUNCER === null || FAKETIME === null)
  throw new Error(
    "a whole Postgres (POSTGRES_BIN), PgBouncer (PGBOUNCER_PATH) and libfaketime (FAKETIME_LIBRARY) are needed",
  );
const print = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);
const random = createRandom(seed);

const EVERY_MS = 10_000;
/** Who takes over has 45 s: a heartbeat that stops for 30 s, a look, a slow machine. Then it reads every list. */
const WITHIN_MS = 75_000;
const SILENT_MS = 30_000;
const RESIDENT_MB = 300;
/** A virtual hour a minute. */
const SPEED = 60;
const BACKUPS = 3;
const CLIENT = { applicationName: "docmirror soak", max: 2 };

const folder = mkdtempSync(join(tmpdir(), "docmirror-workers-"));
const backups = join(folder, "backups");
mkdirSync(backups);
const servers = await startMirrorServers(folder);
print(`${minutes} minutes, seed ${seed}`);
const ask = <T extends object[]>(statement: string) =>
  withSql(servers.adminUrl(), CLIENT, async (sql) => [...(await sql.unsafe<T>(statement))]);

const world = createWorld({
  users: 60,
  projects: 40,
  versions: 200,
  files: 150,
  builds: 900,
  seed,
  startAt: new Date(),
  outputBytes: 300,
  clockSteps: false,
  rates: { ...QUIET, builds: 1000, logins: 200, buildDeletions: 30, projectChanges: 60 },
});
const oddities = createFaults(random);
oddities.share = 0.005;
let simulation = await startSimulation({
  world,
  speed: SPEED,
  latencyMs: 150,
  intercept: oddities.intercept,
});
const service = ["--base-url", simulation.url, "--rate", "0", "--replica-lag", "0s"];
const args = [
  ...[...service, "--page-size", "30", "--concurrency", "2"],
  ...["--sync-cron", "*/10 * * * * *", "--watch-cron", "*/3 * * * * *"],
  ...["--backup-cron", "30 * * * * *", "--backup-dir", backups, "--backup-keep", String(BACKUPS)],
];
const faults: string[] = [];
const fail = (line: string) => {
  faults.push(line);
  print(`  ${line}`);
};
const env = (url: string) => ({ DATABASE_URL: url, DOCMIRROR_DATABASE_PASSWORD_FILE: servers.passwordFile });
const migrated = await runCli(["migrate"], { env: env(servers.url(0)) });
if (migrated.code !== 0) throw new Error(migrated.stderr);
const granted = await runCli(["grant-reader", READER], { env: { DATABASE_URL: servers.adminUrl() } });
if (granted.code !== 0) throw new Error(granted.stderr);
// Change data capture reads all tables, as with a publication of them.
await ask("create publication everything for all tables");
await withSql(servers.adminUrl(), CLIENT, async (sql) => {
  await noteWrites(sql);
  await sql.unsafe(
    "grant all on schema watched to mirror; grant all on all tables in schema watched to mirror",
  );
});
const workers = [servers.url(0), servers.url(1), servers.pooledUrl()].map((url, nth) =>
  keepWorker("abc"[nth] ?? "", { args, env: env(url), folder, print }),
);
const chaos = createWorkerFaults({ workers, servers, random, ask, print, fail });

/** When a sync that read every list well began, after a moment; null before it. By the clock of Postgres, which is that of this machine. */
async function goodSince(ms: number): Promise<number | null> {
  const [row] = await ask<{ began: string }[]>(`
    select first.began_at as began from sync.walks join watched.runs as first on first.run_id = walks.began_run_id
    where is_good and first.began_at > '${new Date(ms).toISOString()}'
    group by walks.run_id, first.began_at having count(*) = 5 limit 1`).catch(() => []);
  return row ? Date.parse(row.began) : null;
}

/** Waits until all is well again, and returns after how many milliseconds. */
async function recover(fromMs: number): Promise<number> {
  for (;;) {
    if ((await goodSince(fromMs)) !== null) return Date.now() - fromMs;
    if (Date.now() - fromMs > 4 * WITHIN_MS) throw new Error("no good sync came after the last fault");
    await delay(500);
  }
}

try {
  const from = Date.now();
  await recover(from);
  let longestMs = 0;
  while (Date.now() - from < minutes * 60_000) {
    await chaos.breakSome();
    const ms = await recover(Date.now());
    longestMs = Math.max(longestMs, ms);
    await chaos.assertNothingLost();
    await delay(random.int(8000));
  }
  const port = Number(new URL(simulation.url).port);
  await simulation.close();
  simulation = await startSimulation({ world, port });
  await recover(Date.now() + 2000);
  const sums = await withSql(servers.adminUrl(), CLIENT, async (sql) => {
    const due = {
      everyMs: EVERY_MS,
      from,
      until: Date.now(),
      withinMs: WITHIN_MS,
      brokenAt: chaos.brokenAt(),
    };
    faults.push(...(await findLedgerFaults(sql, due)));
    for (const { run } of await sql<{ run: string }[]>`
      select concat_ws(' ', runs.kind, runs.id) as run from watched.runs as noted join sync.runs on runs.id = noted.run_id
      where noted.status = 'partial' and runs.error is null and runs.warnings = '{}'
        and not exists (select from sync.walks where walks.run_id = runs.id and reason is not null)
        and not exists (select from sync.quarantine where quarantine.run_id = runs.id)
        and not exists (select from jsonb_each_text(unfinished) where value ~ '^[1-9]')`)
      fail(`${run} is partial, and nothing says why`);
    return await sql<{ kind: string; status: string; count: number }[]>`
      select kind, status, count(*) from watched.runs group by kind, status order by kind, status`;
  });
  await chaos.assertNothingLost();
  const leader = await withSql(servers.adminUrl(), CLIENT, (sql) => findHolder(sql, "lead"));
  for (const worker of workers) {
    const code = await worker.close();
    if (code !== 143) fail(`worker ${worker.name} ended with ${code}`);
    const { ms, at } = worker.longestSilence();
    const mb = Math.round(worker.peakMb());
    print(
      `worker ${worker.name}   silent for ${Math.round(ms / 100) / 10} s at most, at ${at}; ${mb} MB at most`,
    );
    if (ms > SILENT_MS) fail(`worker ${worker.name} was silent for ${ms} ms at ${at}`);
    if (mb > RESIDENT_MB) fail(`worker ${worker.name} had ${mb} MB`);
  }
  const written = readdirSync(backups);
  print(`backups    ${written.join(", ")}`);
  // The first one of the month stays beside the newest ones, and what a clock ahead dated stays until its day.
  const now = new Date().toISOString();
  const complete = written.filter(
    (name) => name.endsWith(".backup") && name.slice("docmirror-".length) < now,
  );
  if (complete.length === 0 || complete.length > BACKUPS + 1) fail(`there are ${complete.length} backups`);
  // Open builds are asked for now and then; this reads them all.
  const full = await runCli(["sync", "--full", ...service], { env: env(servers.url(0)) });
  if (full.code !== 0) fail(`the last sync ended with ${full.code}: ${full.stderr}`);
  faults.push(...(await findDifferences(servers.adminUrl(), world)));
  print(`replies    ${JSON.stringify(oddities.counts)}`);
  print(`faults     ${JSON.stringify(chaos.counts())}, ${leader?.term ?? 0} terms`);
  print(`recovered  within ${Math.round(longestMs / 1000)} s`);
  print(`runs       ${sums.map((run) => `${run.kind} ${run.status}: ${run.count}`).join(", ")}`);
} catch (error) {
  fail(String(error instanceof Error ? error.stack : error));
} finally {
  await chaos.close();
  for (const worker of workers) await worker.close();
  await simulation.close();
  if (faults.length > 0) await printLedger().catch(() => {});
  await servers[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}
print(`differences ${faults.length}${faults.length > 0 ? `, seed ${seed}` : ""}`);
for (const line of faults.slice(0, 50)) print(`  ${line}`);
process.exitCode = faults.length === 0 ? 0 : 1;

async function printLedger(): Promise<void> {
  const runs = await ask<{ line: string }[]>(`
    select concat_ws(' ', run_id, noted.kind, noted.status, noted.pid, case when is_astray then 'astray' end,
      to_char(began_at, 'HH24:MI:SS'), to_char(ended_at, 'HH24:MI:SS'), error,
      case when noted.status = 'partial' then unfinished::text end) as line
    from watched.runs as noted left join sync.runs on id = run_id 
    where noted.kind <> 'watch' or noted.status = 'partial' order by run_id`);
  for (const { line } of runs) print(`  run ${line}`);
}
