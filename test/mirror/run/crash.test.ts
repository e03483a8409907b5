/**
 * The program, in a process of its own, is killed with SIGKILL at random moments: while it starts, between two requests, within a
 * transaction, between a page and its checkpoint, in the repair of references, in the end of the run. What the next run makes of that must be what
 * a run that nobody disturbed makes of the same night.
 *
 * The moments come from a seed, which a failing test tells: CRASH_SEED=<seed> draws the same ones again.
 */
import { afterAll, beforeAll, describe, expect, type TestContext, test, vi } from "vitest";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { createRandom, hash, type Random } from "../../../src/simulate/random.ts";
import { type CliResult, type RunningCli, startCli } from "../../support/cli.ts";
import { createDataDir } from "../../support/data-dir.ts";
import { createTestDatabase, type TestDatabase, withTestSql } from "../../support/database.ts";
import { changeRows, forgetService, mirrorRows } from "../../support/mirror-rows.ts";
import { createWorld, startSimulation, type World } from "../../support/simulation.ts";

// Each test has two processes that work: the program and Postgres.
vi.setConfig({ maxConcurrency: 2 });

const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
const DAY_MS = 86_400_000;
/** Starting takes about so long; the embedded Postgres takes longer where it has to be made first. */
const START_MS = 500;
const EMBEDDED_START_MS = 3000;
/** What follows the last reply: references, the end of the run, the connections. */
const END_MS = 150;
/** Postgres frees a killed process' lock as soon as it notices the end, long before so many processes have started. */
const MAX_TRIES = 12;
/** Kills of a test, one after the other before a run may come to its end. */
const KILLS = [1, 1, 2, 4];

/** Every night, or round, over the mirror that those before it left. A command is one line. */
const NIGHTS = {
  "a first night": ["sync", "--full"],
  "a night on which much has changed": ["sync", "--full"],
  "an incremental night": ["sync", "--incremental"],
  "a round of the watch": ["watch", "--once"],
};
type Night = keyof typeof NIGHTS;
const NAMES = Object.keys(NIGHTS) as Night[];

type Mirror = Awaited<ReturnType<typeof readMirror>>;
/** The mirror before the night and after it, and how many requests it takes. */
type Undisturbed = {
  world: World;
  before: string;
  exitCode: number | null;
  requests: number;
  mirror: Mirror;
};

const undisturbed = new Map<Night, Undisturbed>();
const databases: TestDatabase[] = [];

beforeAll(async () => {
  const open = async (copyOf?: string) => {
    const database = await createTestDatabase(copyOf === undefined ? {} : { copyOf });
    databases.push(database);
    return database.url;
  };
  let before = await open();
  for (const [day, night] of NAMES.entries()) {
    const world = createStandingWorld(day);
    const after = await open(before);
    await makeDue(after);
    await using service = await startService(world);
    const { code, stderr } = await service.start(night, { DATABASE_URL: after }).ended;
    // The head of a list whose old builds went does not agree with the count: that is partial, and true.
    expect([0, 3], stderr).toContain(code);
    const mirror = await readMirror(after);
    undisturbed.set(night, { world, before, exitCode: code, requests: service.served(), mirror });
    before = after;
  }
});

afterAll(async () => {
  for (const database of databases) await database.dispose();
});

describe.concurrent("a run that is killed ends, once it is let be, as if nothing had been", () => {
  const survive = async ([night, place, kills]: Plan, context: TestContext) => {
    const expected = reference(night);
    await using database = await createTestDatabase({ copyOf: expected.before });
    await makeDue(database.url);
    const random = createRandom(hash(SEED, NAMES.indexOf(night), place));
    await crash(context, { night, random, kills, env: { DATABASE_URL: database.url }, url: database.url });
    expect(differences(await readMirror(database.url), expected.mirror)).toEqual([]);
    // The reports had word of every change too.
    const settings = { sourceTimezone: "Etc/UTC", stuckAfterMs: 0, keepsSettings: true };
    const again = await refreshReport(database.sql, { ...settings, check: true });
    expect(again).toMatchObject({ isFull: false, changed: 0, repaired: 0 });
  };
  const plans = NAMES.flatMap((night) => KILLS.map((kills, place): Plan => [night, place, kills]));
  /** Two kinds of nights are killed in `.ci/run`, all of them elsewhere, again and more often. */
  const isFirst = ([night, place]: Plan) =>
    place === 0 && (night === "a first night" || night === "an incremental night");
  test.for(plans.filter(isFirst))("%s: plan %i, kills: %i", { tags: ["long"] }, survive);
  const others = plans.filter((plan) => !isFirst(plan));
  test.for(others)("%s: plan %i, kills: %i", { tags: ["long", "exhaustive"] }, survive);

  test("with the Postgres that it started itself, kills: 3", {
    tags: ["long", "exhaustive"],
  }, async (context) => {
    await using dataDir = await createDataDir();
    const random = createRandom(hash(SEED, NAMES.length, 0));
    const env = { DOCMIRROR_DATA_DIR: dataDir.path };
    await crash(context, { night: "a first night", random, kills: 3, env, url: null });
    // The run that ended found the server that a killed one had left, or started it, and stopped it.
    expect(await dataDir.serverPid()).toBeNull();
    await dataDir.withDatabase(async (url) => {
      expect(differences(await readMirror(url), reference("a first night").mirror)).toEqual([]);
      const runs = await readRuns(url);
      expect(runs.filter(({ status }) => status === "running")).toEqual([]);
    });
  });
});

type Plan = readonly [night: Night, place: number, kills: number];

interface Crash {
  night: Night;
  random: Random;
  kills: number;
  env: Record<string, string>;
  /** The database, where it can be looked at between the kills. */
  url: string | null;
}

/** Kills so many processes of a night one after the other, and lets the next one come to its end. */
async function crash(context: TestContext, { night, random, kills, env, url }: Crash): Promise<void> {
  const expected = reference(night);
  const told: string[] = [];
  context.onTestFailed(() => void process.stderr.write(`CRASH_SEED=${SEED}: ${told.join(", ")}\n`));
  await using service = await startService(expected.world);
  const startMs = url === null ? EMBEDDED_START_MS : START_MS;
  const dead: number[] = [];

  /** Starts a process anew while one that was killed before it still holds the lock. */
  async function attempt(interfere: (cli: RunningCli) => Promise<void>): Promise<CliResult> {
    for (let tries = 1; ; tries++) {
      const cli = service.start(night, env);
      await interfere(cli);
      const result = await cli.ended;
      if (result.code !== 10) {
        if (result.signal !== null && cli.child.pid !== undefined) dead.push(cli.child.pid);
        return result;
      }
      expect(tries, result.stderr).toBeLessThan(MAX_TRIES);
    }
  }

  for (let killed = 0, reach = expected.requests; killed < kills; ) {
    const moment = drawMoment(random, reach, startMs);
    told.push(`killed ${moment.ms.toFixed(1)} ms after reply ${moment.replies}`);
    const { signal, code, stderr } = await attempt(async (cli) => {
      const replied = service.replied(moment.replies);
      await Promise.race([replied, cli.ended]);
      const timer = setTimeout(() => cli.signal("SIGKILL"), moment.ms);
      await cli.ended;
      clearTimeout(timer);
    });
    if (signal === "SIGKILL") {
      killed += 1;
      continue;
    }
    // It was done before its moment came. It has less to do from now on.
    expect(code, stderr).toBe(expected.exitCode);
    told.push("too late");
    reach = Math.ceil(reach / 2);
  }

  const left = url === null ? null : await readLeft(url);
  const last = await attempt(async () => {});
  expect(last.code, last.stderr).toBe(expected.exitCode);
  if (url === null || left === null) return;

  // Where a walk had a checkpoint, the run says that it goes on there.
  const lines = last.stderr.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  for (const { resource, request } of left.walks) {
    const msg = expect.stringMatching(/resumes/);
    expect(lines).toContainEqual(expect.objectContaining({ resource, request, msg }));
  }
  const runs = await readRuns(url);
  for (const run of runs) expect(run).toMatchObject({ finished_at: expect.anything() });
  expect(runs.at(-1)?.status).toBe(expected.exitCode === 0 ? "succeeded" : "partial");
  for (const { id } of left.runs.filter(({ status }) => status === "running"))
    expect(runs.find((run) => run.id === id)).toMatchObject({ status: "interrupted" });
  // A run of a killed process had come to its end before, or was closed by the next one.
  for (const { pid, status } of runs)
    if (dead.includes(pid)) expect(status).toMatch(/^(interrupted|partial|succeeded)$/);
}

/** So long after so many replies, the last of which has just left. */
function drawMoment(random: Random, requests: number, startMs: number): { replies: number; ms: number } {
  const where = random.next();
  if (where < 0.15) return { replies: 0, ms: random.next() * startMs };
  if (where < 0.8) return { replies: 1 + random.int(requests), ms: random.next() * random.next() * 40 };
  return { replies: requests, ms: random.next() * END_MS };
}

function reference(night: Night): Undisturbed {
  const found = undisturbed.get(night);
  if (!found) throw new Error(`nobody has run ${night}`);
  return found;
}

/** The service on so many days after the first night. It stands still, so that any two mirrors of it are equal. */
function createStandingWorld(day: number): World {
  const world = createWorld({
    seed: 11,
    users: 20,
    projects: 15,
    versions: 50,
    files: 30,
    builds: 160,
    outputBytes: 300,
    hiddenShare: 0.1,
    stuckShare: 0.15,
    closeStuckAfterMs: 2 * DAY_MS,
    rates: {
      builds: 30,
      buildDeletions: 4,
      projectChanges: 8,
      administratorChanges: 4,
      hides: 2,
      logins: 10,
      newUsers: 4,
      userDeletions: 2,
      newProjects: 2,
      projectDeletions: 0,
      versionChanges: 15,
      newVersions: 8,
      versionDeletions: 1,
      newFiles: 8,
      fileDeletions: 3,
    },
  });
  world.advance(day * DAY_MS);
  return world;
}

/** The service on a port of its own, which counts its replies. */
async function startService(world: World) {
  let served = 0;
  let since = 0;
  let look = () => {};
  const simulation = await startSimulation({
    world,
    async intercept(_request, next) {
      const reply = await next();
      served += 1;
      look();
      return reply;
    },
  });
  return {
    served: () => served,
    replied: (count: number) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (served - since >= count) resolve();
        };
        look();
      }),
    start(night: Night, env: Record<string, string>): RunningCli {
      since = served;
      const args = [...NIGHTS[night], "--base-url", simulation.url, "--rate", "0", "--page-size", "10"];
      return startCli(args, { env: { ...env, DOCMIRROR_LOG_FORMAT: "json" } });
    },
    [Symbol.asyncDispose]: () => simulation.close(),
  };
}

/** The builds that are open were seen a minute ago, when they were young, so that all that the head does not show are asked for. */
function makeDue(url: string): Promise<unknown> {
  return withTestSql(url, async (sql) => {
    await sql`
      update sync.open_builds set since = now() - interval '1 minute', seen_at = now() - interval '1 minute'`;
    await forgetService(sql);
  });
}

async function readMirror(url: string) {
  return { ...(await mirrorRows(url)), changes: await changeRows(url) };
}

/** What two mirrors do not have in common, a line for each table: a whole mirror is too long for a failure's message. */
function differences(found: Record<string, string[]>, expected: Record<string, string[]>): string[] {
  return Object.keys(expected).flatMap((table) => {
    const surplus = new Map<string, number>();
    for (const row of found[table] ?? []) surplus.set(row, (surplus.get(row) ?? 0) + 1);
    for (const row of expected[table] ?? []) surplus.set(row, (surplus.get(row) ?? 0) - 1);
    const missing = [...surplus].filter(([, count]) => count < 0);
    const added = [...surplus].filter(([, count]) => count > 0);
    if (missing.length + added.length === 0) return [];
    const example = (missing[0] ?? added[0])?.[0].slice(0, 300);
    return [`${table}: ${missing.length} rows are missing, ${added.length} are too many, as ${example}`];
  });
}

type RunRow = { id: number; pid: number; status: string; finished_at: string | null };

function readRuns(url: string): Promise<RunRow[]> {
  return withTestSql(url, async (sql) => [
    ...(await sql<RunRow[]>`select id, pid, status, finished_at from sync.runs order by id`),
  ]);
}

/** What a killed process leaves: its runs, and the walks of the newest one that may be gone on with. */
async function readLeft(url: string) {
  const walks = await withTestSql(url, async (sql) => {
    // What a connection was about to commit when its client died is there once the connection is gone.
    const others = () => sql`
      select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and backend_type = 'client backend'`;
    while ((await others()).length > 0);
    return [
      ...(await sql<{ resource: string; request: string }[]>`
        select resource, checkpoint ->> 'request' as request from sync.walks
        where run_id = (select max(id) from sync.runs) and walk is null and checkpoint is not null`),
    ];
  });
  return { walks, runs: await readRuns(url) };
}
