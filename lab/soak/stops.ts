/**
 * `npm run test:stops`: keep-alive clients ask a served mirror all the time and retry nothing, while its process is asked to stop and
 * started again on the same port. Only a connection that is refused is no failure: nothing was sent on it, and the client waits for the
 * next process. Prints what each kind of client lost and how long the stops took; exits 1 where a request was lost.
 *
 * Options: `--stops 20`, `--clients 50`, and `--log` for each line of the server's log.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { silentLog } from "../../src/base/log.ts";
import { readDefinitions } from "../../src/report/definitions.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createRandom } from "../../src/simulate/random.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import { openEmbedded } from "../../src/store/embedded/open-embedded.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";
import { freePort } from "../../test/support/free-port.ts";
import { fillServed } from "../bench/served-rows.ts";

const { values } = parseArgs({
  options: {
    stops: { type: "string", default: "20" },
    clients: { type: "string", default: "50" },
    log: { type: "boolean", default: false },
  },
});
const stops = Number(values.stops);
const print = (line: string) => process.stdout.write(`${line}\n`);
const random = createRandom(5);
const BUILDS = 20_000;
const SIZES = { builds: BUILDS, projects: 500, versions: 2000 };

const aBuild = () => `/api/v1/build/${1 + random.int(BUILDS)}/`;
const aPage = () => `/api/v1/build/?offset=${random.int(BUILDS)}`;
const KINDS = {
  /** One detail after the other. */
  light: { share: 0.3, path: aBuild, pauseMs: () => 0, keepAlive: true },
  /** A page of 1.6 MB after the other. */
  heavy: { share: 0.2, path: () => `${aPage()}&limit=1000`, pauseMs: () => 0, keepAlive: true },
  /** A crawler that waits between two pages. */
  paced: { share: 0.4, path: aPage, pauseMs: () => random.int(400), keepAlive: true },
  /** A connection for each request. */
  fresh: { share: 0.1, path: aBuild, pauseMs: () => random.int(50), keepAlive: false },
} as const;
type Kind = keyof typeof KINDS;

const port = await freePort();
const asked: Record<Kind, number> = { light: 0, heavy: 0, paced: 0, fresh: 0 };
/** How many were lost, by what happened. */
const lost = new Map<string, number>();
const lose = (what: string) => lost.set(what, (lost.get(what) ?? 0) + 1);
let stopping = 0;
let isOver = false;

/** The code of an error, or what is wrong with the reply. Null for a whole one. */
function ask(path: string, agent: Agent): Promise<string | null> {
  return new Promise((resolve) => {
    request({ host: "127.0.0.1", port, path, agent }, (reply) => {
      reply.resume().on("close", () => {
        if (!reply.complete) resolve("cut");
        else resolve(reply.statusCode === 200 ? null : `status ${reply.statusCode}`);
      });
    })
      .on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .end();
  });
}

async function live(kind: Kind): Promise<void> {
  const { path, pauseMs, keepAlive } = KINDS[kind];
  const agent = new Agent({ keepAlive, maxSockets: 1 });
  while (!isOver) {
    const fault = await ask(path(), agent);
    if (fault === "ECONNREFUSED") {
      await delay(20);
      continue;
    }
    asked[kind] += 1;
    if (fault !== null) lose(`stop ${stopping}: ${kind} by ${fault}`);
    await delay(pauseMs());
  }
  agent.destroy();
}

async function start(databaseUrl: string): Promise<ChildProcess> {
  const flags = ["--http-port", String(port), "--log-format", "json"];
  const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
  const child = spawn(process.execPath, [program, "serve", ...flags], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ["ignore", "pipe", "pipe"],
  });
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (values.log || /^\{"level":[45]/.test(line)) print(`  ${line}`);
  });
  await once(createInterface({ input: child.stdout }), "line");
  return child;
}

const dataDir = await mkdtemp(join(tmpdir(), "docmirror-stops-"));
const database = await openEmbedded({ dataDir, log: silentLog });
try {
  await migrate(database.url, readDefinitions());
  await withSql(database.url, { applicationName: "docmirror lab", max: 1 }, async (sql) => {
    await fillServed(sql, SIZES);
    await refreshReport(sql, { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 });
  });
  let server = await start(database.url);
  const clients = (Object.keys(KINDS) as Kind[]).flatMap((kind) =>
    Array.from({ length: Number(values.clients) * KINDS[kind].share }, () => live(kind)),
  );
  const took: number[] = [];
  for (stopping = 1; stopping <= stops; stopping++) {
    await delay(1000 + random.int(2000));
    const from = performance.now();
    const ended = once(server, "close");
    server.kill("SIGTERM");
    const [code] = await ended;
    took.push(Math.round(performance.now() - from));
    if (code !== 143) lose(`stop ${stopping}: exit code ${code}`);
    if (values.log) print(`stop ${stopping}: ${took.at(-1)} ms`);
    server = await start(database.url);
  }
  await delay(500);
  isOver = true;
  await Promise.all(clients);
  const last = once(server, "close");
  server.kill("SIGTERM");
  await last;
  for (const [what, count] of lost) print(`${what}: ${count}`);
  took.sort((a, b) => a - b);
  print(
    `${stops} stops of ${took[0]} to ${took.at(-1)} ms; requests: ${JSON.stringify(asked)}; lost: ${[...lost.values()].reduce((sum, count) => sum + count, 0)}`,
  );
} finally {
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
}
process.exitCode = lost.size > 0 ? 1 : 0;
