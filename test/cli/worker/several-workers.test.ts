/** @module-tag long */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import {
  awaitLeader,
  findLedgerFaults,
  noteWrites,
  startWorker,
  type WorkerProcess,
} from "../../support/several-workers.ts";
import { createWorld, type Simulation, startSimulation } from "../../support/simulation.ts";

// `npm run test:workers` also freezes leaders, cuts networks and ends sessions; test/store/ledger does so by sessions alone.

/** A night every ten seconds. */
const EVERY_MS = 10_000;
const NIGHTS = ["--sync-cron", "*/10 * * * * *", "--watch-cron", "*/2 * * * * *"];
const FAST = ["--rate", "0", "--page-size", "20", "--concurrency", "2"];
const WORLD = { users: 40, projects: 30, versions: 120, files: 100, builds: 400 };
/** Another worker leads within a minute, and then reads every list. */
const WITHIN_MS = 75_000;

let service: Simulation;
beforeAll(async () => {
  service = await startSimulation({ world: createWorld({ ...WORLD, startAt: new Date() }), latencyMs: 20 });
});
afterAll(async () => {
  await service?.close();
});

let database: TestDatabase;
let sql: Sql;
let workers: WorkerProcess[];
let beganAt: number;

const start = () => startWorker(database.url, [...NIGHTS, ...FAST, "--base-url", service.url]);

/** Three of them. The first leads. */
beforeEach(async () => {
  workers = [];
  database = await createTestDatabase();
  sql = connect(database.url, { applicationName: "docmirror test", max: 2 });
  await noteWrites(sql);
  beganAt = Date.now();
  workers.push(await start());
  await awaitLeader(sql);
  for (const worker of [start(), start()]) workers.push(await worker);
  await expect.poll(async () => (await runs()).some(isGood)).toBe(true);
});
afterEach(async () => {
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  await sql?.end({ timeout: 5 });
  await database?.dispose();
});

const runs = () => sql<{ id: number; kind: string; status: string; pid: number }[]>`
  select id, status, pid from sync.runs where kind <> 'watch' order by id desc`;

type Run = Awaited<ReturnType<typeof runs>>[number];
const isGood = ({ status }: Run) => status === "succeeded";
const isRunning = ({ status }: Run) => status === "running";

async function newRun(isIt: (run: Run) => boolean, pid?: number): Promise<number> {
  const before = new Set((await runs()).filter(isIt).map(({ id }) => id));
  const find = async () =>
    (await runs()).find((run) => isIt(run) && !before.has(run.id) && (pid ?? run.pid) === run.pid)?.id;
  let found: number | undefined;
  await expect.poll(async () => (found = await find()), { interval: 50 }).toBeDefined();
  return found ?? 0;
}

async function pagesAnswer(but?: WorkerProcess): Promise<void> {
  for (const worker of workers.filter((one) => one !== but)) {
    const reply = await fetch(worker.page);
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain("As of ");
  }
}

async function roles(): Promise<{ leader: WorkerProcess; others: WorkerProcess[] }> {
  const { pid } = await awaitLeader(sql);
  const leader = workers.find((worker) => worker.pid === pid);
  if (!leader) throw new Error("a stranger leads");
  return { leader, others: workers.filter((worker) => worker !== leader) };
}

async function expectGoodLedger(): Promise<void> {
  const options = { everyMs: EVERY_MS, from: beganAt, until: Date.now(), withinMs: WITHIN_MS };
  expect(await findLedgerFaults(sql, options)).toEqual([]);
}

describe("three workers on one database", { timeout: 600_000 }, () => {
  it("serve all, and one leads; they go on when it is killed in the middle of a run, at once when it is asked to stop", async () => {
    const { leader, others } = await roles();
    expect(leader).toBe(workers[0]);
    await pagesAnswer();
    for (const { cli } of others)
      expect(cli.stderr()).toMatch(/another worker leads on this database: process \d+ on /);
    expect(new Set((await runs()).map(({ pid }) => pid))).toEqual(new Set([leader.pid]));

    await newRun(isRunning);
    await leader.cli.stop("SIGKILL");
    await pagesAnswer(leader);
    const second = await awaitLeader(sql, leader.pid);
    await newRun(isGood, second.pid);
    expect((await runs()).filter((run) => run.pid === leader.pid && run.status === "running")).toEqual([]);

    const next = workers.find(({ pid }) => pid === second.pid);
    expect((await next?.cli.stop())?.code).toBe(143);
    const holding = sql`select from sync.leader where pid = ${second.pid} and resigned_at is null`;
    expect(await holding).toHaveLength(0);
    const from = performance.now();
    const third = await awaitLeader(sql, second.pid);
    expect(performance.now() - from).toBeLessThan(15_000);
    await newRun(isGood, third.pid);
    await expectGoodLedger();
  });
});
