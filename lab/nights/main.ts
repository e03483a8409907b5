/**
 * `npm run test:nights`: a month of virtual nights under two real worker processes with everything switched on: standby, metrics, notices, pages.
 * Workers are killed, frozen, stopped and started again; the service, the receiver and Postgres go away. At the end each night must have had one
 * good sync and none two, no two runs may overlap, memory must be flat, the mirror must equal the service, and the alerts (by a real Prometheus,
 * where there is one) and notices must be those that were to be expected. Takes about 45 minutes.
 *
 * Options: `--days 30`, `--seed 1`, `--speed 960` (virtual seconds a second), `--keep` (leaves the folder of logs and samples). Exits 1 on any fault.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { QUIET } from "../../src/simulate/settings.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import {
  type Firing,
  findFirings,
  hasPrometheus,
  namesIn,
  readRules,
} from "../../test/support/alert-firings.ts";
import { startDatabaseServer } from "../../test/support/database-server.ts";
import { freePort } from "../../test/support/free-port.ts";
import { replaceDatabase } from "../../test/support/replace-database.ts";
import { createWorld } from "../../test/support/simulation.ts";
import { syncOnce } from "../../test/support/sync.ts";
import { judgeMemory } from "../judge/memory.ts";
import { judgeNights } from "../judge/nights.ts";
import { findDifferences } from "../judge/records.ts";
import {
  EXPECTED_ALERTS,
  EXPECTED_NOTICES,
  LOST_NIGHTS,
  POSSIBLE_ALERTS,
  type Stage,
  TROUBLES,
} from "./plan.ts";
import { startReceiver } from "./receiver.ts";
import { startRecorder } from "./recorder.ts";
import { startService } from "./service.ts";
import { DAY_MS, HOUR_MS, startTimeline } from "./timeline.ts";
import { createWorkers, type WorkerPlace } from "./workers.ts";

const { values } = parseArgs({
  options: {
    days: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
    speed: { type: "string", default: "960" },
    keep: { type: "boolean", default: false },
  },
});
const [days, seed, speed] = [Number(values.days), Number(values.seed), Number(values.speed)];
if (!(days >= 1) || !Number.isInteger(seed) || !(speed > 0))
  throw new Error("--days and --speed take a number above 0, --seed a whole number");
const CLIENT = { applicationName: "docmirror test", max: 1 };
/** When a night is due, in hours. */
const NIGHT = 2 + 17 / 60;

const folder = mkdtempSync(join(tmpdir(), "docmirror-nights-"));
const server = await startDatabaseServer(process.env.TEST_DATABASE_URL);
const database = `docmirror_nights_${process.pid}`;
const admin = (statement: string) => withSql(server.adminUrl, CLIENT, (sql) => sql.unsafe(statement));
await admin(`create database ${database} template ${server.template}`);
const databaseUrl = replaceDatabase(server.adminUrl, database);

const timeline = startTimeline(days, speed);
const print = (line: string) =>
  process.stderr.write(`${new Date(timeline.now()).toISOString().slice(0, 16)}  ${line}\n`);
print(
  `on ${server.description}: ${days} days at ${speed} virtual seconds a second, seed ${seed}, in ${folder}`,
);

const world = createWorld({
  seed,
  users: 60,
  projects: 60,
  versions: 150,
  files: 80,
  builds: 400,
  outputBytes: 300,
  oddTexts: false,
  startAt: new Date(timeline.fromMs),
  stuckShare: 0.01,
  closeStuckAfterMs: 26 * HOUR_MS,
  rates: { ...QUIET, builds: 120, buildDeletions: 3, projectChanges: 6, newUsers: 2, newFiles: 2 },
});
const service = await startService(world, speed);
const secret = `whsec_${randomBytes(32).toString("base64")}`;
const receiver = await startReceiver(secret, timeline.now);
const places = [
  { name: "a", port: await freePort() },
  { name: "b", port: await freePort() },
];
const workers = createWorkers(places, {
  folder,
  env: {
    ...timeline.env,
    DATABASE_URL: databaseUrl,
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_SYNC_CRON: "17 2 * * *",
    DOCMIRROR_WATCH_CRON: "47 * * * *",
    DOCMIRROR_RATE: "0",
    DOCMIRROR_REPLICA_LAG: "0s",
    // Time limits of requests are real, and this one is long, since a limit is no part of what is shown here.
    DOCMIRROR_TIMEOUT_MS: "600000",
    DOCMIRROR_WEBHOOK_URL: receiver.url,
    DOCMIRROR_WEBHOOK_SECRET: secret,
    DOCMIRROR_LOG_FORMAT: "json",
  },
});
const rules = readRules();
const samples = join(folder, "samples.txt");
const stage: Stage = {
  timeline,
  workers,
  service,
  receiver,
  async leader() {
    for (let tries = 0; tries < 1200; tries++) {
      const [row] = await withSql(
        databaseUrl,
        CLIENT,
        (sql) =>
          sql<{ pid: number }[]>`select pid from sync.leases where name = 'lead' and until > '-infinity'`,
      );
      const name = row && workers.nameOf(row.pid);
      if (name) return name;
      await delay(100);
    }
    throw new Error("no worker leads");
  },
  async cutDatabase() {
    await admin(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
  },
};

const faults: string[] = [];
for (const { name } of places) workers.start(name);
await Promise.all(places.map(isUp));
const recorder = startRecorder(places, { path: samples, names: namesIn(rules), now: timeline.now, speed });
try {
  const troubles = TROUBLES.filter(({ day }) => day < days - 1);
  for (const { day, hour, what, happen } of troubles) {
    await timeline.until(timeline.at(day, hour));
    if (workers.surprises.length > 0) break;
    print(`day ${day}: ${what}`);
    await happen(stage);
  }
  // Without one of them the rest shows nothing.
  if (workers.surprises.length === 0) await timeline.until(timeline.at(days, 0) - HOUR_MS);
  for (const { name } of places) workers.signal(name, "SIGTERM");
  await Promise.all(places.map(({ name }) => workers.ended(name)));
  await recorder.stop();
  faults.push(...workers.surprises, ...receiver.faults);
  await judge();
} finally {
  await workers.close();
  await recorder.stop();
  await service.close();
  await receiver.close();
  await admin(`drop database if exists ${database} with (force)`);
  await server.stop();
  if (!values.keep && faults.length === 0) rmSync(folder, { recursive: true, force: true });
}
for (const fault of faults) process.stdout.write(`fault: ${fault}\n`);
if (faults.length > 0) process.exitCode = 1;

async function judge(): Promise<void> {
  const dueAt = Array.from({ length: days }, (_, day) => timeline.at(day, NIGHT));
  const nights = await judgeNights(databaseUrl, dueAt, LOST_NIGHTS);
  faults.push(...nights.faults);
  process.stdout.write(`${JSON.stringify({ ...nights, faults: nights.faults.length })}\n`);
  for (const [name, lives] of recorder.resident) {
    const longest = lives.toSorted((one, other) => other.length - one.length)[0] ?? [];
    const course = judgeMemory(longest);
    process.stdout.write(`worker ${name}: ${JSON.stringify(course)}\n`);
    if (course.hasGrown) faults.push(`the memory of worker ${name} has grown`);
  }
  judgeNotices();
  await judgeAlerts();
  await service.standStill();
  for (let run = 0; run < 2; run++)
    await syncOnce(databaseUrl, new URL(service.url), { kind: "full", settings: { pageSize: 100 } });
  faults.push(...(await findDifferences(databaseUrl, world)));
}

function judgeNotices(): void {
  const came = [...receiver.notices.values()];
  const counts: Record<string, number> = {};
  for (const { type } of came) counts[type] = (counts[type] ?? 0) + 1;
  process.stdout.write(`notices: ${JSON.stringify(counts)}, refused while away: ${receiver.refused}\n`);
  for (const { type, from, to } of EXPECTED_NOTICES.filter((one) => one.to <= days)) {
    const isThere = came.some(
      (notice) =>
        notice.type === type && notice.atMs >= timeline.at(from, 0) && notice.atMs < timeline.at(to, 0),
    );
    if (!isThere) faults.push(`no notice ${type} came from day ${from} to ${to}`);
  }
}

async function judgeAlerts(): Promise<void> {
  if (!hasPrometheus()) {
    process.stdout.write("alerts were not judged: Prometheus is not on this machine\n");
    return;
  }
  const toMs = timeline.at(days, 0) - HOUR_MS;
  const firings = await findFirings(samples, rules, {
    fromMs: timeline.fromMs,
    toMs,
    folder,
    port: await freePort(),
  });
  const dayOf = (atMs: number) => ((atMs - timeline.fromMs) / DAY_MS).toFixed(2);
  for (const { alert, fromMs, toMs: end } of firings)
    process.stdout.write(`alert ${alert}: day ${dayOf(fromMs)} to ${dayOf(end)}\n`);
  const isWithin = ({ alert, fromMs }: Firing, span: { alert: string; from: number; to: number }) =>
    alert === span.alert && fromMs >= timeline.at(span.from, 0) && fromMs < timeline.at(span.to, 0);
  for (const span of EXPECTED_ALERTS.filter((one) => one.to <= days))
    if (!firings.some((firing) => isWithin(firing, span)))
      faults.push(`alert ${span.alert} did not fire from day ${span.from} to ${span.to}`);
  for (const firing of firings)
    if (![...EXPECTED_ALERTS, ...POSSIBLE_ALERTS].some((span) => isWithin(firing, span)))
      faults.push(`alert ${firing.alert} fired on day ${dayOf(firing.fromMs)}`);
}

/** Waits until a worker answers, or ends. */
async function isUp({ name, port }: WorkerPlace): Promise<void> {
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (workers.surprises.length === 0 && !(await answers())) await delay(100);
  print(`worker ${name} is up`);
}
