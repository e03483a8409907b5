/**
 * `npm run bench`: a night's work as ratios against floors measured in the same run (docs/internals/performance.md has a table of it). Options: `--runs 3`,
 * `--only nights,memory,rate,latency`. Every figure is the median of the runs; the floors take turns with what they are a floor for.
 * `--peers` compares docmirror with other programs instead; `--size small` does so with a tenth of the records, `--rate 4` at
 * so many requests a second, as the nights then are. `--builds` is the number of builds.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { silentLog } from "../../src/base/log.ts";
import type { RunSummary } from "../../src/mirror/lists/summary.ts";
import { readDefinitions } from "../../src/report/definitions.ts";
import { connect, withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { openEmbedded } from "../../src/store/embedded/open-embedded.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";
import { replaceDatabase } from "../../test/support/replace-database.ts";
import { median } from "./median.ts";
import { benchPeers } from "./peers/bench-peers.ts";
import type { Arrival } from "./service.ts";
import { startService } from "./start-service.ts";

const CONCURRENCY = 8;
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "3" },
    only: { type: "string", default: "nights,memory,rate,latency" },
    peers: { type: "boolean", default: false },
    size: { type: "string", default: "full" },
    rate: { type: "string", default: "0" },
    builds: { type: "string", default: "30000" },
  },
});
const SIZES = { users: 4000, projects: 3000, versions: 15_000, files: 16_500, builds: Number(values.builds) };
const runs = Number(values.runs);
if (values.peers) {
  const share = values.size === "small" ? 0.1 : 1;
  const sizes = Object.fromEntries(Object.entries(SIZES).map(([name, count]) => [name, count * share]));
  process.exit(await benchPeers({ runs, sizes, newBuilds: (SIZES.builds * share) / 100, rate: values.rate }));
}

interface Command {
  /** From its start to its exit. */
  commandMs: number;
  /** Of its resident memory, in MB. */
  peakMb: number;
}

/** Runs a script of this folder, or the built program, to its end; gives its JSON and what the whole command took. */
async function run<T>(args: string[]): Promise<T & Command> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let peakMb = 0;
  const watch = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // The process has ended, or this is no Linux.
    }
  }, 20);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  const [code] = await once(child, "close");
  const commandMs = performance.now() - startedAt;
  clearInterval(watch);
  if (code !== 0) throw new Error(`${args.join(" ")} exited ${code}: ${output}`);
  return { ...(JSON.parse(output) as T), commandMs, peakMb };
}

const script = (name: string, ...args: string[]) => ["--import", "tsx", here(name), ...args];
const sync = (databaseUrl: string, baseUrl: string, ...flags: string[]) =>
  run<RunSummary>([
    here("../../dist/cli/main.js"),
    ...["sync", "--full", "--json", "--log-level", "error", "--rate", values.rate],
    ...["--concurrency", String(CONCURRENCY), "--database-url", databaseUrl, "--base-url", baseUrl],
    ...flags,
  ]);

const print = (line: string) => process.stdout.write(`${line}\n`);
const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`;

const dataDir = await mkdtemp(join(tmpdir(), "docmirror-bench-"));
const server = await openEmbedded({ dataDir, log: silentLog });
const admin = connect(server.url, { applicationName: "bench", max: 1 });
let databases = 0;
async function createDatabase(template = "template1"): Promise<string> {
  const name = `bench_${databases++}`;
  await admin.unsafe(`create database ${name} template ${template}`);
  return replaceDatabase(server.url, name);
}
async function freshDatabase(): Promise<string> {
  const url = await createDatabase();
  await migrate(url, readDefinitions());
  return url;
}

/** The night once in a copy of the database, to which nobody may be connected: what the service has to render for it, it then has. */
async function rehearse(databaseUrl: string, baseUrl: string): Promise<void> {
  const nameOf = (url: string) => new URL(url).pathname.slice(1);
  const copy = await createDatabase(nameOf(databaseUrl));
  await sync(copy, baseUrl);
  await admin.unsafe(`drop database ${nameOf(copy)} with (force)`);
}

/** WAL that a task writes: everything else that writes is quiet. */
async function walOf<T>(task: () => Promise<T>): Promise<{ result: T; walMb: number }> {
  await admin`checkpoint`;
  const position = (sql: Sql) => sql<{ at: string }[]>`select pg_current_wal_lsn()::text as at`;
  const [before] = await position(admin);
  const result = await task();
  const [after] = await admin<{ bytes: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), ${before?.at ?? "0/0"}::pg_lsn)::float8 as bytes`;
  return { result, walMb: (after?.bytes ?? 0) / 1e6 };
}

async function benchNights(): Promise<void> {
  const service = await startService({ sizes: SIZES });
  const figures: Record<string, number[]> = {};
  const note = (name: string, value: number) => {
    figures[name] ??= [];
    figures[name].push(value);
  };
  await run(script("floor.ts", "download", service.url, String(CONCURRENCY)));
  for (let count = 0; count < runs; count++) {
    const download = await run<{ ms: number; pages: number; bytes: number }>(
      script("floor.ts", "download", service.url, String(CONCURRENCY)),
    );
    if (count === 0) print(`${download.pages} pages, ${(download.bytes / 1e6).toFixed(0)} MB`);
    note("download", download.ms);
    note(
      "parse",
      (await run<{ ms: number }>(script("floor.ts", "parse", service.url, String(CONCURRENCY)))).ms,
    );
    const database = await freshDatabase();
    await rehearse(database, service.url);
    const first = await sync(database, service.url);
    note("first", first.commandMs);
    note("peak", first.peakMb);
    note("firstRequests", first.requests);
    note("copy", (await run<{ ms: number }>(script("copy-floor.ts", database, await freshDatabase()))).ms);
    await withSql(database, { applicationName: "bench", max: 1 }, (sql) => sql`vacuum analyze`);
    await rehearse(database, service.url);
    const { result: second, walMb } = await walOf(() => sync(database, service.url));
    note("second", second.commandMs);
    note("secondRequests", second.requests);
    note("wal", walMb);
    const changes = (summary: RunSummary) =>
      Object.values(summary.resources).reduce((sum, { inserted, updated }) => sum + inserted + updated, 0);
    note("secondChanges", changes(second));
    await service.ask({ trigger: SIZES.builds / 100 });
    // For the floors of the next round.
    await run(script("floor.ts", "download", service.url, String(CONCURRENCY)));
    await rehearse(database, service.url);
    const shifted = await sync(database, service.url);
    note("shifted", shifted.commandMs);
    note("shiftedRequests", shifted.requests);
    note("shiftedChanges", changes(shifted));
  }
  service.stop();
  const of = (name: string) => median(figures[name] ?? []);
  const floor = Math.max(of("parse"), of("copy"));
  const ratio = (ms: number, to: number) => (ms / to).toFixed(2);
  print(
    `download ${seconds(of("download"))}, download and parse ${seconds(of("parse"))}, COPY ${seconds(of("copy"))}`,
  );
  print(`first night ${seconds(of("first"))}: ${ratio(of("first"), floor)} of the larger of parse and COPY`);
  print(
    `second night ${seconds(of("second"))}: ${ratio(of("second"), of("parse"))} of parse; ` +
      `${of("secondChanges")} rows written, ${of("wal").toFixed(2)} MB of WAL`,
  );
  print(
    `night with 1 % new builds ${seconds(of("shifted"))}: ${ratio(of("shifted"), of("parse"))} of parse; ${of("shiftedChanges")} rows written`,
  );
  const [first, second, shifted] = ["first", "second", "shifted"].map((night) => of(`${night}Requests`));
  print(`requests: first night ${first}, second ${second}, with 1 % new builds ${shifted}`);
  print(`peak memory of the first night ${of("peak").toFixed(0)} MB`);
}

async function benchMemory(): Promise<void> {
  const peaks: Record<number, number> = {};
  for (const factor of [1, 2]) {
    const service = await startService({ sizes: { ...SIZES, builds: SIZES.builds * factor } });
    const samples: number[] = [];
    for (let count = 0; count < runs; count++)
      samples.push((await sync(await freshDatabase(), service.url)).peakMb);
    peaks[factor] = median(samples);
    service.stop();
  }
  const [one = 0, two = 0] = [peaks[1], peaks[2]];
  print(
    `peak memory: ${one.toFixed(0)} MB, with twice the builds ${two.toFixed(0)} MB (${(two / one).toFixed(2)})`,
  );
}

async function benchRate(): Promise<void> {
  const service = await startService({ sizes: SIZES, latencyMs: 100 });
  await service.ask({ reset: true });
  // Small pages, so that the rate is what limits.
  const flags = ["--rate", "50", "--page-size", "100"];
  await sync(await freshDatabase(), service.url, ...flags);
  const arrivals = (await service.ask({ arrivals: true })) as Arrival[];
  service.stop();
  let worst = 0;
  for (let start = 0, end = 0; end < arrivals.length; end++) {
    while ((arrivals[end]?.atMs ?? 0) - (arrivals[start]?.atMs ?? 0) >= 1000) start++;
    worst = Math.max(worst, end - start + 1);
  }
  // The share is that of the walks: before them the root is asked for, behind them come a few single records.
  const pages = arrivals.filter(({ asksFor }) => asksFor === "page");
  const [first, last] = [pages[0]?.atMs ?? 0, pages.at(-1)?.atMs ?? 0];
  const during = arrivals.filter(({ atMs }) => atMs >= first && atMs <= last).length;
  const used = (during - 1) / ((last - first) / 1000) / 50;
  print(
    `rate 50/s at 100 ms latency: ${(used * 100).toFixed(1)} % used by the walks, ${worst} requests in the worst second`,
  );
}

/** A list of 500 pages where nothing but the latency limits: from the request for the first page to the last commit. */
async function benchLatency(): Promise<void> {
  const latencyMs = 100;
  const none = { projects: 1, versions: 1, files: 1, builds: 1 };
  const service = await startService({ sizes: { ...none, users: 49_002 }, latencyMs });
  const samples: number[] = [];
  let pages = 0;
  for (let count = 0; count < runs; count++) {
    const database = await freshDatabase();
    const { resources } = await sync(database, service.url, "--resource", "user", "--page-size", "100");
    pages = resources.user?.pages ?? 0;
    const sql = connect(database, { applicationName: "bench", max: 1 });
    const [walk] = await sql<{ ms: number }[]>`
      select extract(epoch from finished_at - started_at)::float8 * 1000 as ms from sync.walks where resource = 'user'`;
    samples.push(walk?.ms ?? 0);
    await sql.end();
  }
  service.stop();
  const best = (pages / CONCURRENCY) * latencyMs;
  print(
    `${pages} pages at ${latencyMs} ms latency: ${seconds(median(samples))}, ` +
      `${(median(samples) / best).toFixed(2)} of pages / concurrency × latency`,
  );
}

try {
  await admin.unsafe("alter system set autovacuum = off");
  await admin`select pg_reload_conf()`;
  const parts = values.only.split(",");
  if (parts.includes("nights")) await benchNights();
  if (parts.includes("memory")) await benchMemory();
  if (parts.includes("rate")) await benchRate();
  if (parts.includes("latency")) await benchLatency();
} finally {
  await admin.end();
  await server.close();
  await rm(dataDir, { recursive: true, force: true });
}
