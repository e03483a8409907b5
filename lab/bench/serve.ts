/**
 * `npm run bench:serve`: what the interface costs over a mirror of a million builds. Server and client share this machine. Each kind of request is
 * sent for `--seconds` over 16 connections, at random places, so that few replies come from the server's cache (`kinds`). Then small replies are
 * asked for beside large ones (`mixed`). Then comes a full load of `--load` seconds, while a service is synced into the same database again and
 * again (`load`). Options: `--builds 1000000`, `--seconds 8`, `--load 60`, `--only kinds,mixed,load`, and `--program PATH` for the `main.js` of
 * another build.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import { silentLog } from "../../src/base/log.ts";
import { readDefinitions } from "../../src/report/definitions.ts";
import { createRandom } from "../../src/simulate/random.ts";
import { connect } from "../../src/store/connection/connect.ts";
import { openEmbedded } from "../../src/store/embedded/open-embedded.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";
import { fillServed } from "./served-rows.ts";

const { values } = parseArgs({
  options: {
    builds: { type: "string", default: "1000000" },
    seconds: { type: "string", default: "8" },
    load: { type: "string", default: "60" },
    only: { type: "string", default: "kinds,mixed,load" },
    program: { type: "string", default: fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url)) },
  },
});
const builds = Number(values.builds);
const PROJECTS = 5000;
const VERSIONS = 20_000;
const CONNECTIONS = 16;
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const { program } = values;

async function serve(use: (url: string, server: ChildProcess) => Promise<void>): Promise<void> {
  const flags = ["serve", "--http-port", "0", "--log-level", "error", "--database-url", database.url];
  const server = spawn(process.execPath, [program, ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    await use(url, server);
  } finally {
    const ended = once(server, "close");
    server.kill("SIGTERM");
    await ended;
  }
}

const random = createRandom(3);
const anyOf = (count: number) => 1 + random.int(count);
const PATHS: Record<string, () => string> = {
  "a build by its id": () => `/api/v1/build/${anyOf(builds)}/`,
  "a project by its slug": () => `/api/v1/project/project-${anyOf(PROJECTS)}/`,
  "20 of the first 10,000 builds": () => `/api/v1/build/?offset=${random.int(10_000)}`,
  "20 of the last 10,000 builds": () => `/api/v1/build/?offset=${builds - 20 - random.int(10_000)}`,
  "20 builds anywhere": () => `/api/v1/build/?offset=${random.int(builds)}`,
  "1,000 of the first 10,000 builds": () => `/api/v1/build/?limit=1000&offset=${random.int(10_000)}`,
  "20 builds of a project, by its slug": () => `/api/v1/build/?project__slug=project-${anyOf(PROJECTS)}`,
  "20 versions anywhere": () => `/api/v1/version/?offset=${random.int(VERSIONS)}`,
  "the first page again and again": () => "/api/v1/build/",
};

interface Figures {
  requests: number;
  /** How many replies had another status than 200, by status. */
  others: Map<number, number>;
  /** Milliseconds, ascending. */
  times: number[];
}

/** Sends requests over all connections until the time is up. */
async function ask(
  pool: Pool,
  path: () => string,
  seconds: number,
  connections = CONNECTIONS,
  { ofPath }: { ofPath?: (path: string) => Figures | undefined } = {},
): Promise<Figures> {
  const all: Figures = { requests: 0, others: new Map(), times: [] };
  const until = performance.now() + seconds * 1000;
  const one = async (): Promise<void> => {
    while (performance.now() < until) {
      const from = performance.now();
      const asked = path();
      const figures = ofPath?.(asked) ?? all;
      const reply = await pool.request({ path: asked, method: "GET" });
      await reply.body.dump({ limit: 1e9 });
      figures.times.push(performance.now() - from);
      figures.requests += 1;
      const { statusCode } = reply;
      if (statusCode !== 200) figures.others.set(statusCode, (figures.others.get(statusCode) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  all.times.sort((a, b) => a - b);
  return all;
}

const at = (times: readonly number[], share: number) =>
  (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN).toFixed(1);

const LARGE = "1,000 of the first 10,000 builds";
const SMALL = ["a build by its id", "a project by its slug", "20 of the first 10,000 builds"];
const pathOf = (name: string) => (PATHS[name] as () => string)();
const anySmall = () => pathOf(SMALL[random.int(SMALL.length)] as string);

/** Small replies beside large ones: over the same connections, and beside others that ask for nothing but large ones. */
async function measureMixed(url: string): Promise<void> {
  const seconds = Number(values.seconds) * 2;
  const print = (name: string, { requests, others, times }: Figures) => {
    const rate = (requests / seconds).toFixed(0).padStart(6);
    const spans = [0.5, 0.99].map((share) => `${at(times, share).padStart(8)} ms`).join("");
    process.stdout.write(`${name.padEnd(48)} ${rate} ${spans}  ${describe(others)}\n`);
  };
  process.stdout.write(`${"".padEnd(48)} a second  half, 99 % within\n`);
  const pool = new Pool(url, { connections: 32 });
  const larges: Figures = { requests: 0, others: new Map(), times: [] };
  const mixed = await ask(pool, () => (random.chance(0.05) ? pathOf(LARGE) : anySmall()), seconds, 32, {
    ofPath: (path) => (path.includes("limit=1000") ? larges : undefined),
  });
  larges.times.sort((a, b) => a - b);
  print("32 connections, 5 % large: the small ones", mixed);
  print("  the large ones", larges);
  const alone = await ask(pool, () => pathOf(LARGE), seconds, 16);
  print("16 connections, large alone", alone);
  const [small, large] = await Promise.all([
    ask(pool, anySmall, seconds, 16),
    ask(pool, () => pathOf(LARGE), seconds, 16),
  ]);
  print("16 connections small, beside 16 of large ones", small);
  print("  the large ones", large);
  await pool.close();
}

async function measureAll(pool: Pool): Promise<void> {
  process.stdout.write(`${"".padEnd(38)} requests a second   99 % within     alone, median\n`);
  for (const [name, path] of Object.entries(PATHS)) {
    await ask(pool, path, 1);
    const alone = await ask(pool, path, 2, 1);
    const { requests, others, times } = await ask(pool, path, Number(values.seconds));
    const rate = (requests / Number(values.seconds)).toFixed(0);
    process.stdout.write(
      `${name.padEnd(38)} ${rate.padStart(17)} ${at(times, 0.99).padStart(10)} ms ${at(alone.times, 0.5).padStart(14)} ms  ${describe(others)}\n`,
    );
  }
}

const describe = (others: ReadonlyMap<number, number>) =>
  [...others].map(([status, count]) => `${count} answered ${status}`).join(", ");

const residentMb = (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** All kinds of requests at once, while syncs write into the same mirror. */
async function load(pool: Pool, server: ChildProcess): Promise<void> {
  const sizes = { users: 400, projects: 300, versions: 1500, files: 1600, builds: 3000 };
  const service = fork(here("service.ts"), [JSON.stringify({ sizes, latencyMs: 0 })], {
    execArgv: ["--import", "tsx"],
  });
  const [ready] = (await once(service, "message")) as [{ url: string }];
  let syncs = 0;
  let isOver = false;
  // Its records are not those of the mirror, so each night adds, changes and misses many.
  const nights = (async () => {
    while (!isOver) {
      const flags = [
        "--database-url",
        database.url,
        "--base-url",
        ready.url,
        "--rate",
        "0",
        "--log-level",
        "silent",
      ];
      const sync = spawn(process.execPath, [program, "sync", "--full", ...flags], { stdio: "ignore" });
      await once(sync, "close");
      syncs += 1;
      service.send({ trigger: 50 });
      await once(service, "message");
    }
  })();
  const paths = Object.values(PATHS);
  const any = () => (paths[random.int(paths.length)] as () => string)();
  await ask(pool, any, 5);
  const before = residentMb(server.pid);
  const { requests, others, times } = await ask(pool, any, Number(values.load));
  const after = residentMb(server.pid);
  isOver = true;
  await nights;
  service.disconnect();
  process.stdout.write(
    `${values.load} s of all kinds beside ${syncs} syncs: ${requests} requests, ${describe(others) || "all 200"}, 99 % within ${at(times, 0.99)} ms, ` +
      `memory ${before.toFixed(0)} MB, then ${after.toFixed(0)} MB\n`,
  );
}

const dataDir = await mkdtemp(join(tmpdir(), "docmirror-bench-serve-"));
const database = await openEmbedded({ dataDir, log: silentLog });
try {
  await migrate(database.url, readDefinitions());
  const sql = connect(database.url, { applicationName: "docmirror bench", max: 1 });
  const bytes = await fillServed(sql, { builds, projects: PROJECTS, versions: VERSIONS });
  process.stdout.write(`${builds} builds of 1.5 KB: ${bytes}\n`);
  await sql.end();
  await serve(async (url, server) => {
    const pool = new Pool(url, { connections: CONNECTIONS });
    if (values.only.includes("kinds")) await measureAll(pool);
    if (values.only.includes("mixed")) await measureMixed(url);
    if (values.only.includes("load")) await load(pool, server);
    await pool.close();
  });
} finally {
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
}
