/**
 * `npm run test:month`: a month of 20,000 builds in virtual time, watched each minute, each five minutes, hourly and nightly side by side, each
 * cadence on a world and a mirror of its own; then every transition is compared with the truth. Takes about an hour.
 *
 * Options: `--days 30`, `--builds 20000` in all, `--seed 1`, `--cadences nightly,hourly,five,minute`. With UPDATE_DOCS=1 the table goes into docs/builds.md.
 * Exits 1 when anything that is recorded is not true.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { replaceDatabase, withSql } from "../../src/db/connect.ts";
import { startDatabaseServer } from "../support/database-server.ts";
import { judge, quantile, type Verdict } from "./judge.ts";
import { live } from "./life.ts";
import { startSessionPool } from "./session-pool.ts";

const CADENCES: Record<string, { title: string; everyMinutes: number | null }> = {
  nightly: { title: "nightly, no watch", everyMinutes: null },
  hourly: { title: "hourly", everyMinutes: 60 },
  five: { title: "each five minutes", everyMinutes: 5 },
  minute: { title: "each minute", everyMinutes: 1 },
};
const DOC = new URL("../../docs/builds.md", import.meta.url);

const { values } = parseArgs({
  options: {
    days: { type: "string", default: "30" },
    builds: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    cadences: { type: "string", default: Object.keys(CADENCES).join() },
  },
});
const [days, builds, seed] = [Number(values.days), Number(values.builds), Number(values.seed)];
if (!(days > 0) || !(builds > 0) || !Number.isInteger(seed))
  throw new Error("--days and --builds take a number above 0, --seed a whole number");
const print = (line: string) => process.stderr.write(`${line}\n`);
const began = performance.now();
const minutesGone = () => `${((performance.now() - began) / 60_000).toFixed(1)} min`;

const server = await startDatabaseServer(process.env.TEST_DATABASE_URL);
const pool = await startSessionPool(server.adminUrl);
try {
  print(`on ${server.description}: ${builds} builds in ${days} days, seed ${seed}`);
  const names = values.cadences.split(",");
  const verdicts = await Promise.all(names.map(play));
  const table = render(names.map((name, index) => rowOf(name, verdicts[index] as Verdict)));
  process.stdout.write(table);
  if (process.env.UPDATE_DOCS) writeTable("month", table);
  if (verdicts.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
} finally {
  await pool[Symbol.asyncDispose]();
  await server.stop();
}

async function play(name: string): Promise<Verdict> {
  const cadence = CADENCES[name];
  if (!cadence) throw new Error(`there is no cadence "${name}"`);
  const database = `docmirror_month_${process.pid}_${name}`;
  const admin = (statement: string) =>
    withSql(server.adminUrl, { applicationName: "docmirror month", max: 1 }, (sql) => sql.unsafe(statement));
  await admin(`create database ${database} template ${server.template}`);
  try {
    const databaseUrl = pool.through(replaceDatabase(server.adminUrl, database));
    const life = await live({
      databaseUrl,
      seed,
      days,
      buildsPerDay: builds / days,
      everyMinutes: cadence.everyMinutes,
      onProgress: (done) =>
        print(`${minutesGone()}: ${cadence.title}, ${Math.round(done * days)} of ${days} days`),
    });
    const verdict = await judge(life, { databaseUrl });
    const { widths: _, ...facts } = verdict;
    print(`${minutesGone()}: ${cadence.title}: ${JSON.stringify(facts)}`);
    return verdict;
  } finally {
    await admin(`drop database if exists ${database} with (force)`);
  }
}

function rowOf(name: string, verdict: Verdict): string[] {
  const { looks, requests, seen, widths, transitions, inside } = verdict;
  const share = ({ of, seen: met }: { of: number; seen: number }) => `${((100 * met) / of).toFixed(1)} %`;
  const width = (sorted: number[]) =>
    `${duration(quantile(sorted, 0.5))} (${duration(quantile(sorted, 0.95))})`;
  return [
    CADENCES[name]?.title ?? name,
    looks.toLocaleString("en-US"),
    requests.toLocaleString("en-US"),
    share(seen.triggered),
    share(seen.building),
    width(widths.building),
    width(widths.finished),
    transitions.toLocaleString("en-US"),
    inside === transitions ? "100 %" : `all but ${transitions - inside}`,
  ];
}

function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 100) return `${seconds.toFixed(0)} s`;
  return seconds < 6000 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function render(rows: string[][]): string {
  const head = [
    "looked at",
    "looks",
    "requests",
    "seen `triggered`",
    "seen `building`",
    "bounds of `building`, median (95 %)",
    "bounds of `finished`, median (95 %)",
    "transitions",
    "true time inside",
  ];
  return [head, head.map((_, index) => (index === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |\n`)
    .join("");
}

/** Puts a table between its two marks in the docs. */
function writeTable(mark: string, table: string): void {
  const text = readFileSync(DOC, "utf8");
  const [begin, end] = [`<!-- ${mark}:begin -->`, `<!-- ${mark}:end -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/builds.md has no place for the table "${mark}"`);
  writeFileSync(DOC, `${text.slice(0, from + begin.length)}\n\n${table}\n${text.slice(to)}`);
}
