/**
 * `npm run bench:lake`: the same five questions on Postgres, DuckDB and Spark, from the same facts, generated in place. Options: `--millions 1`, or
 * `1,10,50`; `--engines postgres,duckdb,spark`; `--folder FOLDER` for the facts, else a new one below the temporary folder; it needs about 0.6 GB a
 * million builds. Each figure is the median of three. The engines must give the same answers. The table goes into docs/scale.md.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { silentLog } from "../../src/base/log.ts";
import { readDefinitions } from "../../src/report/definitions.ts";
import { connect } from "../../src/store/connection/connect.ts";
import { openEmbedded } from "../../src/store/embedded/open-embedded.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";
import { installPackages, WITH_SPARK, whyNoJava } from "../../test/support/python-packages.ts";
import { createLakeFacts, type LakeFacts } from "./lake-facts.ts";
import { LAKE_QUESTIONS, type LakeQuestion } from "./lake-questions.ts";

const { values } = parseArgs({
  options: {
    millions: { type: "string", default: "1" },
    engines: { type: "string", default: "postgres,duckdb,spark" },
    folder: { type: "string" },
  },
});
const sizes = values.millions.split(",").map(Number);
if (sizes.some((size) => !(size >= 0.1 && size <= 100)))
  throw new Error("--millions takes numbers from 0.1 to 100");
const engines = values.engines.split(",");
const TURNS = 3;
/** What a machine for a database of this size would have; a load that may be lost needs no sync. */
const POSTGRES = {
  shared_buffers: "2GB",
  work_mem: "256MB",
  maintenance_work_mem: "1GB",
  max_wal_size: "8GB",
  fsync: "off",
  autovacuum: "off",
};

type Rows = unknown[][];
/** The answers and the milliseconds of each turn, by question. */
type Answers = Record<string, { ms: number[]; rows: Rows }>;

const print = (line: string) => process.stdout.write(`${line}\n`);
const seconds = (ms: number) => `${(ms / 1000).toFixed(ms < 9995 ? 2 : 0)} s`;
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(3)} GB`;
const median = (numbers: number[]) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const from = performance.now();
  const result = await work();
  return { ms: performance.now() - from, result };
}

async function ask(query: (question: LakeQuestion) => Promise<Rows>): Promise<Answers> {
  const answers: Answers = {};
  for (const question of LAKE_QUESTIONS) {
    const turns = [];
    for (let turn = 0; turn < TURNS; turn++) turns.push(await timed(() => query(question)));
    answers[question.name] = { ms: turns.map(({ ms }) => ms), rows: turns[0]?.result ?? [] };
  }
  return answers;
}

async function onPostgres(facts: LakeFacts, folder: string): Promise<Answers> {
  const dataDir = join(folder, "postgres");
  const server = await openEmbedded({ dataDir, log: silentLog, settings: POSTGRES });
  const sql = connect(server.url, { applicationName: "docmirror bench", max: 1 });
  try {
    await migrate(server.url, readDefinitions());
    const { ms } = await timed(() => facts.load(sql));
    const [{ bytes } = { bytes: 0 }] = await sql<{ bytes: number }[]>`
      select pg_total_relation_size('rollup.builds')::float8 as bytes`;
    print(`Postgres: facts ${gigabytes(bytes)} with indexes, loaded in ${seconds(ms)}`);
    return await ask(async ({ text }) => [
      ...(await sql
        .unsafe(text("report.fact_builds", `triggered_on >= date '${facts.recent.day}'`))
        .values()),
    ]);
  } finally {
    await sql.end({ timeout: 5 });
    await server.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** A reader of partitions names the month, which saves files. */
const recentIn = ({ recent }: LakeFacts) =>
  `triggered_on >= date '${recent.day}' and triggered_month >= '${recent.month}'`;

async function onDuckDb(facts: LakeFacts): Promise<Answers> {
  return withDuckDb(async (connection) => {
    const files = `read_parquet('${facts.folder}/fact_builds/*/*.parquet', hive_partitioning = true, hive_types_autocast = false)`;
    return ask(async ({ text }) => {
      const reader = await connection.runAndReadAll(text(files, recentIn(facts)));
      return reader.getRowsJS() as Rows;
    });
  });
}

async function onSpark(facts: LakeFacts, folder: string): Promise<Answers | null> {
  const installed = await installPackages(WITH_SPARK);
  const missing = "missing" in installed ? installed.missing : await whyNoJava();
  if ("missing" in installed || missing !== null) {
    print(`Spark: not run, ${missing}`);
    return null;
  }
  const child = spawn(installed.python, [fileURLToPath(new URL("lake.py", import.meta.url))], {
    cwd: folder,
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, SPARK_LOCAL_IP: "127.0.0.1", SPARK_LOCAL_DIRS: folder },
  });
  const questions = LAKE_QUESTIONS.map(({ name, text }) => [name, text("builds", recentIn(facts))]);
  child.stdin.end(JSON.stringify({ folder: facts.folder, questions, turns: TURNS }));
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`Spark exited ${code}`);
  const { start_ms: startMs, answers } = JSON.parse(output) as { start_ms: number; answers: Answers };
  print(`Spark: started in ${seconds(startMs)}`);
  return answers;
}

async function withDuckDb<T>(work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
  const instance = await DuckDBInstance.create(":memory:", { preserve_insertion_order: "false" });
  const connection = await instance.connect();
  try {
    await connection.run("set TimeZone = 'UTC'");
    return await work(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  let bytes = 0;
  for (const entry of entries)
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}

/** In one order and as text, because engines have other types for a count and other orders of text. */
const comparable = (rows: Rows) => rows.map((row) => row.map(String).join(" | ")).toSorted();

async function measure(millions: number, folder: string): Promise<void> {
  const builds = Math.round(millions * 1e6);
  const answers: Record<string, Answers | null> = {};
  const facts = await withDuckDb(async (connection) => {
    const made = createLakeFacts({ connection, folder: join(folder, "lake"), builds });
    const { ms } = await timed(() => made.write());
    const size = gigabytes(await sizeOf(made.folder));
    print(
      `${millions} million builds, ${made.days} days, ${made.projects} projects: Parquet ${size} in ${seconds(ms)}`,
    );
    if (engines.includes("postgres")) answers.postgres = await onPostgres(made, folder);
    return made;
  });
  if (engines.includes("duckdb")) answers.duckdb = await onDuckDb(facts);
  if (engines.includes("spark")) answers.spark = await onSpark(facts, folder);
  const [first, ...others] = Object.values(answers).filter((answer) => answer !== null);
  for (const { name, title } of LAKE_QUESTIONS) {
    for (const other of others) {
      const [one, two] = [comparable(first?.[name]?.rows ?? []), comparable(other[name]?.rows ?? [])];
      if (JSON.stringify(one) !== JSON.stringify(two))
        throw new Error(`${name} differs:\n${one.slice(0, 5).join("\n")}\n--\n${two.slice(0, 5).join("\n")}`);
    }
    const cells = ["postgres", "duckdb", "spark"].map((engine) => {
      const ms = answers[engine]?.[name]?.ms;
      return ms === undefined ? "–" : seconds(median(ms));
    });
    print(`| ${title} | ${millions} million | ${cells.join(" | ")} |`);
  }
}

for (const millions of sizes) {
  const folder = values.folder ?? (await mkdtemp(join(tmpdir(), "docmirror-bench-lake-")));
  await mkdir(folder, { recursive: true });
  // The server may run as another user, who reads what is loaded.
  await chmod(folder, 0o755);
  try {
    await measure(millions, folder);
  } finally {
    await rm(join(folder, "lake"), { recursive: true, force: true });
    if (values.folder === undefined) await rm(folder, { recursive: true, force: true });
  }
}
