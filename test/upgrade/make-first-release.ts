/**
 * Makes the two files of this folder, which are kept in the repository (README.md): the first release mirrors
 * a simulated service for twelve days, and the service as it was two days later is stored.
 *
 *   git worktree add --detach FOLDER 75cb720 && (cd FOLDER && npm ci)
 *   npx tsx test/upgrade/make-first-release.ts FOLDER
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { RESOURCES } from "../../src/resources/resources.ts";
import { startSimulation } from "../../src/simulate/service.ts";
import { createWorld } from "../../src/simulate/world.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import { freePort } from "../support/free-port.ts";
import { createSystemPostgres, POSTGRES_BIN } from "../support/system-postgres.ts";
import { FIRST_RELEASE, LATER_SERVICE } from "./stored-files.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAYS = 12;

const checkout = process.argv[2];
if (checkout === undefined) throw new Error("name the folder of a built checkout of the first release");
if (POSTGRES_BIN === null) throw new Error("a whole Postgres 15 is needed: set POSTGRES_BIN");

type Run = (options: object) => Promise<{ summary: { status: string } }>;
const released = <T>(file: string): Promise<T> =>
  import(pathToFileURL(resolve(checkout, "dist", file)).href) as Promise<T>;
const { migrate } = await released<{ migrate(url: string): Promise<string[]> }>("db/migrate.js");
const { runSync } = await released<{ runSync: Run }>("sync/run.js");
const { runWatchRound } = await released<{ runWatchRound: Run }>("sync/watch-round.js");
const { StoppedError } = await released<{ StoppedError: new (signal: string) => Error }>("errors.js");
const { withReport } = await released<{ withReport(run: Run): Run }>("report/after-run.js");

const world = createWorld({
  ...{ seed: 20, users: 40, projects: 30, versions: 100, files: 80, builds: 400, outputBytes: 120 },
  startAt: new Date("2026-10-20T02:17:00Z"),
  stuckShare: 0.03,
  // A fresh mirror learns hidden projects from their versions, an older one finds them deleted.
  hiddenShare: 0,
  rates: {
    ...{ builds: 60, buildDeletions: 3, projectChanges: 4, administratorChanges: 1, hides: 0, logins: 3 },
    ...{ newUsers: 0.5, userDeletions: 0.3, newProjects: 0.5, projectDeletions: 0.2, versionChanges: 3 },
    ...{ newVersions: 1, versionDeletions: 0.5, newFiles: 1, fileDeletions: 0.7 },
  },
});
const startedAt = world.now().getTime();
const daysPassed = () => (world.now().getTime() - startedAt) / (24 * HOUR);

const simulation = await startSimulation({
  world,
  async intercept(request, next) {
    const reply = await next();
    const { pathname } = new URL(request.url);
    // From the fifth day on projects have a field more.
    if (reply.status !== 200 || daysPassed() < 5 || !/^\/api\/v1\/project\/(\d+\/)?$/.test(pathname)) {
      return reply;
    }
    const body = (await reply.json()) as { objects?: object[] };
    const grown = (record: object) => ({ ...record, sponsor: null });
    return Response.json(body.objects ? { ...body, objects: body.objects.map(grown) } : grown(body));
  },
});

const postgres = createSystemPostgres("upgrade");
postgres.init("first");
const port = await freePort();
const server = await postgres.start("first", port);
const databaseUrl = postgres.url(port);
const execute = (statement: string) =>
  withSql(databaseUrl, { applicationName: "docmirror test", max: 1 }, (sql) => sql.unsafe(statement));

async function run(kind: Run, signal = new AbortController().signal): Promise<void> {
  const settings = {
    ...{ databaseUrl, baseUrl: new URL(simulation.url), pageSize: 50, rate: 0, concurrency: 2 },
    ...{ timeoutMs: 10_000, retries: 0, maxBodyMb: 64, fullEveryDays: 3, maxDeleteRatio: 0.05 },
    ...{ sourceTimezone: "Etc/UTC", stuckAfterMs: 2 * HOUR },
  };
  const clock = { now: () => world.now(), sleep: systemClock.sleep };
  const { summary } = await withReport(kind)({ settings, clock, log: silentLog, signal });
  process.stdout.write(`${world.now().toISOString()} ${summary.status}\n`);
}

/** A rule that refuses some users, so that they wait in quarantine. */
const refuse = (users: string) =>
  execute(`alter table mirror.users add constraint refused check (${users}) not valid`);
const accept = () => execute("alter table mirror.users drop constraint refused");

await migrate(databaseUrl);
for (let day = 0; day < DAYS; day++) {
  if (day === 2) await refuse("id::int % 2 = 0");
  if (day === DAYS - 1) await refuse("id::int % 11 <> 5");
  await run(runSync);
  if (day === 2) await accept();
  for (const after of [1, 9, 15]) {
    world.advanceTo(new Date(startedAt + day * 24 * HOUR + after * HOUR));
    for (let round = 0; round < 5; round++) {
      world.advance(4 * MINUTE);
      await run(runWatchRound);
    }
  }
  world.advanceTo(new Date(startedAt + (day + 1) * 24 * HOUR));
}
await accept();
// The last night is stopped in the middle, and leaves checkpoints.
const stop = new AbortController();
let pages = 0;
await run(
  (options) =>
    runSync({
      ...options,
      kind: "full",
      onProgress: () => ++pages === 6 && stop.abort(new StoppedError("SIGTERM")),
    }),
  stop.signal,
);

// Which machine made it is nobody's business.
await execute("update sync.runs set host = 'first-release', pid = 1");
const folder = mkdtempSync(join(tmpdir(), "docmirror-upgrade-"));
const dump = join(folder, "dump.sql");
const flags = ["--no-owner", "--no-privileges", "--rows-per-insert=200", `--file=${dump}`];
execFileSync("pg_dump", [...flags, databaseUrl]);
// Commands of psql, which no other client understands.
const statements = readFileSync(dump, "utf8").replaceAll(/^\\(un)?restrict \w+\n/gm, "");
writeFileSync(FIRST_RELEASE, gzipSync(statements, { level: 9 }));

world.advance(2 * 24 * HOUR);
const lists: Record<string, unknown[]> = {};
for (const resource of RESOURCES) {
  let next: string | null = `/api/v1/${resource}/?format=json&limit=200`;
  lists[resource] = [];
  while (next !== null) {
    const page = (await (await fetch(new URL(next, simulation.url))).json()) as {
      meta: { next: string | null };
      objects: unknown[];
    };
    lists[resource].push(...page.objects);
    next = page.meta.next;
  }
}
writeFileSync(LATER_SERVICE, gzipSync(JSON.stringify(lists), { level: 9 }));

await server.stop();
postgres.remove();
rmSync(folder, { recursive: true });
await simulation.close();
