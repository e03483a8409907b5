/**
 * `npm run bench:reports`: what the reports cost on a mirror of a million builds: the first refresh, a refresh after a round of the watch, after
 * one in which nothing happened, and with the nightly comparison, by the clock and by the processor time of Postgres; and the answer of every
 * relation: its first 1,000 rows as `docmirror report` orders them, and, where it is no list of builds, all of it; then the pages. The table goes
 * into docs/internals/performance.md. Options: `--builds 1000000`; `--projects 5000` and `--days 400`, to which the builds belong; `--refreshes` for
 * the first refresh and those after changes alone; `--database-url URL` of an empty database, or of one that an earlier bench has filled; `--data-dir PATH` for the embedded
 * Postgres, where the temporary folder is too small.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { createPages } from "../../src/page/pages.ts";
import { askFor } from "../../src/report/ask.ts";
import { readDefinitions } from "../../src/report/definitions.ts";
import { RELATIONS, type Relation } from "../../src/report/dictionary.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createServedMirror } from "../../src/serve/http/served-mirror.ts";
import { connect } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { openEmbedded } from "../../src/store/embedded/open-embedded.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";
import { connectionsOf } from "../../test/support/connections.ts";
import { fillMirror, playRound } from "./report-world.ts";
import { readServerCpu } from "./server-cpu.ts";

const { values } = parseArgs({
  options: {
    builds: { type: "string", default: "1000000" },
    projects: { type: "string", default: "5000" },
    days: { type: "string", default: "400" },
    refreshes: { type: "boolean", default: false },
    "database-url": { type: "string" },
    "data-dir": { type: "string", default: tmpdir() },
  },
});
const builds = Number(values.builds);
if (!Number.isInteger(builds) || builds < 1000) throw new Error("--builds takes a whole number from 1000 on");

/** Each page, with what narrows the first; of the project with the most builds, of one with few, and of a build. */
const PAGES = [
  "/",
  "/?show=main",
  "/?page=9",
  "/trends",
  "/projects",
  "/errors",
  "/mirror",
  "/project/project-1",
  "/project/project-4000",
  "/build/1000",
];
/** Lists of a million rows are not what one reads whole; what is summed over them is. */
const SUMS: Partial<Record<Relation, string>> = {
  fact_builds:
    "select triggered_month, type, sum(succeeded), sum(failed), count(*) from report.fact_builds group by 1, 2",
  success_rate_daily_by_project:
    "select day, sum(builds), sum(succeeded), sum(finished) from report.success_rate_daily_by_project group by 1",
};
const settings = { sourceTimezone: "Etc/UTC", stuckAfterMs: 7_200_000 };
const dataDir = await mkdtemp(join(values["data-dir"], "docmirror-bench-reports-"));
const url = values["database-url"];
const database =
  url === undefined ? await openEmbedded({ dataDir, log: silentLog }) : { url, async close() {} };
try {
  const sql = connect(database.url, { applicationName: "docmirror bench", max: 1 });
  try {
    await measure(sql, database.url);
  } finally {
    await sql.end({ timeout: 5 });
  }
} finally {
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function measure(sql: Sql, databaseUrl: string): Promise<void> {
  await migrate(databaseUrl, readDefinitions());
  const [known] = await sql<{ builds: number }[]>`select count(*) as builds from mirror.builds`;
  const refresh = (options = {}) =>
    refreshReport(connectionsOf(databaseUrl).sql, { ...settings, ...options });
  if (!known?.builds)
    print(
      "filled the mirror",
      await timed(() => fillMirror(sql, builds, Number(values.projects), Number(values.days))),
    );
  await cost(sql, known?.builds ? "refresh, of an earlier bench" : "first refresh", 1, refresh);
  if (!values.refreshes) {
    await cost(sql, "all computed anew", 1, () => refresh({ stuckAfterMs: 1 }));
    await refresh();
  }
  await sql.unsafe("vacuum analyze");
  await refresh();
  await cost(sql, "refresh, nothing happened", 20, refresh);
  for (let round = 0; round < 3; round++) {
    await playRound(sql);
    await refresh();
  }
  await cost(sql, "refresh after a round of 50 builds", 20, refresh, () => playRound(sql));
  await cost(sql, "refresh, all facts compared", 3, () => refresh({ check: true }));
  if (values.refreshes) return;
  for (const relation of RELATIONS) {
    const first = await median(() => answer(sql, relation, 1000));
    const [row] = await sql.unsafe<{ rows: number }[]>(`select count(*) as rows from report.${relation}`);
    const sum = SUMS[relation] ?? `select count(*), count(r::text) from report.${relation} as r`;
    const whole = await median(() => sql.unsafe(sum));
    print(`report.${relation} (${row?.rows} rows): first 1,000`, first);
    print(`report.${relation}: ${relation in SUMS ? "summed" : "all"}`, whole);
  }
  const mirror = createServedMirror({ ready: async () => databaseUrl, log: silentLog });
  await mirror.open();
  const deps = {
    mirror,
    sourceTimezone: settings.sourceTimezone,
    staleAfterMs: 108_000_000,
    clock: systemClock,
    log: silentLog,
  };
  const page = async (path: string) => {
    // New pages keep none from before; what draws charts is loaded by the first of the three.
    const reply = await createPages(deps).request(path);
    if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}`);
    await reply.text();
  };
  for (const path of PAGES) print(`page ${path}`, await median(() => page(path)));
  await mirror.close();
}

async function answer(sql: Sql, relation: Relation, limit: number): Promise<void> {
  const { text, params } = askFor(relation, { limit });
  await sql.unsafe(text, params as (string | number)[]);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** Prints the median by the clock, and the mean of the processor time of Postgres, which counts in hundredths of a second. */
async function cost(
  sql: Sql,
  what: string,
  times: number,
  work: () => Promise<unknown>,
  before: () => Promise<unknown> = async () => {},
): Promise<void> {
  const taken: number[] = [];
  let cpu = 0;
  for (let turn = 0; turn < times; turn++) {
    await before();
    const from = await readServerCpu(sql);
    taken.push(await timed(work));
    // The server counts the time of a session when it has ended.
    await delay(30);
    cpu += ((await readServerCpu(sql)) ?? Number.NaN) - (from ?? Number.NaN);
  }
  const median = taken.toSorted((one, other) => one - other)[Math.floor(times / 2)] ?? 0;
  process.stdout.write(
    `${what.padEnd(64)} ${median.toFixed(0).padStart(7)} ms, of Postgres ${(cpu / times).toFixed(0)} ms\n`,
  );
}

/** Of three. */
async function median(work: () => Promise<unknown>, before?: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < 3; turn++) {
    await before?.();
    times.push(await timed(work));
  }
  return times.toSorted((one, other) => one - other)[1] ?? 0;
}

function print(what: string, ms: number): void {
  process.stdout.write(`${what.padEnd(64)} ${ms.toFixed(0).padStart(7)} ms\n`);
}
