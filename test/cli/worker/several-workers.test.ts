/** @module-tag long */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { type DatabaseLink, linkDatabase } from "../../support/database-link.ts";
import {
  awaitLeader,
  findLedgerFaults,
  noteWrites,
  startWorker,
  type WorkerProcess,
} from "../../support/several-workers.ts";
import { createWorld, type Simulation, startSimulation } from "../../support/simulation.ts";

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
let link: DatabaseLink;
let sql: Sql;
let workers: WorkerProcess[];
let beganAt: number;

const start = (url: string) => startWorker(url, [...NIGHTS, ...FAST, "--base-url", service.url]);

/** Three of them. The first leads, and has a network of its own. */
beforeEach(async () => {
  workers = [];
  database = await createTestDatabase();
  link = await linkDatabase(database.url);
  sql = connect(database.url, { applicationName: "docmirror test", max: 2 });
  await noteWrites(sql);
  beganAt = Date.now();
  workers.push(await start(link.url));
  await awaitLeader(sql);
  for (const worker of [start(database.url), start(database.url)]) workers.push(await worker);
  await expect.poll(async () => (await runs()).some(isGood)).toBe(true);
});
afterEach(async () => {
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  await sql?.end({ timeout: 5 });
  await link?.[Symbol.asyncDispose]();
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

/** Freezes it in the middle of a run, which may just end when the signal comes: then in the next one. */
async function freezeInRun({ cli }: WorkerProcess): Promise<number> {
  for (;;) {
    const id = await newRun(isRunning);
    cli.signal("SIGSTOP");
    if ((await runs()).some((run) => run.id === id && isRunning(run))) return id;
    cli.signal("SIGCONT");
  }
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
  it("serve all, and one of them leads", async () => {
    const { leader, others } = await roles();
    expect(leader).toBe(workers[0]);
    await pagesAnswer();
    for (const { cli } of others)
      expect(cli.stderr()).toMatch(/another worker leads on this database: process \d+ on /);
    await newRun(isGood);
    expect(new Set((await runs()).map(({ pid }) => pid))).toEqual(new Set([leader.pid]));
    await expectGoodLedger();
  });

  it("go on without a leader that was killed in the middle of a run", async () => {
    const { leader } = await roles();
    await newRun(isRunning);
    await leader.cli.stop("SIGKILL");
    await pagesAnswer(leader);
    const { pid } = await awaitLeader(sql, leader.pid);
    await newRun(isGood, pid);
    expect((await runs()).filter((run) => run.pid === leader.pid && run.status === "running")).toEqual([]);
    await expectGoodLedger();
  });

  it("go on without a leader that was frozen in the middle of a run, and it stands by when it wakes", {
    tags: ["exhaustive"],
  }, async () => {
    const { leader } = await roles();
    const broken = await freezeInRun(leader);
    const { pid } = await awaitLeader(sql, leader.pid);
    await pagesAnswer(leader);
    await newRun(isGood, pid);
    leader.cli.signal("SIGCONT");
    await leader.cli.waitFor("stderr", /another worker leads now/);
    await leader.cli.waitFor("stderr", /this worker leads[\s\S]*this worker stands by/);
    await newRun(isGood, pid);
    await pagesAnswer();
    expect((await runs()).find(({ id }) => id === broken)?.status).toBe("interrupted");
    expect((await runs()).filter((run) => run.pid === leader.pid && run.id > broken)).toEqual([]);
    await expectGoodLedger();
  });

  it("go on without a leader whose network fell silent in the middle of a run", {
    tags: ["exhaustive"],
  }, async () => {
    const { leader } = await roles();
    expect(leader).toBe(workers[0]);
    await newRun(isRunning);
    link.freeze();
    const { pid } = await awaitLeader(sql, leader.pid);
    await pagesAnswer(leader);
    await newRun(isGood, pid);
    await link.cut();
    await link.restore();
    await leader.cli.waitFor("stderr", /another worker leads now/);
    await newRun(isGood, pid);
    await expect.poll(async () => (await fetch(leader.page)).status).toBe(200);
    await expectGoodLedger();
  });

  it("agree on one leader after every session was ended", { tags: ["exhaustive"] }, async () => {
    await newRun(isRunning);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name like '%#%'`;
    await newRun(isGood);
    await newRun(isGood);
    await expectGoodLedger();
  });

  it("hand over at once when the leader is asked to stop", async () => {
    const { leader } = await roles();
    expect((await leader.cli.stop()).code).toBe(143);
    const holding = sql`select from sync.leases where name = 'lead' and pid = ${leader.pid} and until > '-infinity'`;
    expect(await holding).toHaveLength(0);
    const from = performance.now();
    const { pid } = await awaitLeader(sql, leader.pid);
    expect(performance.now() - from).toBeLessThan(15_000);
    await newRun(isGood, pid);
    await pagesAnswer(leader);
    await expectGoodLedger();
  });
});
