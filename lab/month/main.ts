/**
 * `npm run test:month`: a month of 20,000 builds in virtual time, watched each minute, each five minutes, hourly and nightly side by side, each
 * cadence on a world and a mirror of its own; then every transition is compared with the truth, and so is what the reports say of how long builds
 * took. And two days of rounds over builds that hang, by their number, with what the rounds asked for. Takes an hour or two.
 *
 * Options: `--days 30`, `--builds 20000` in all, `--seed 1`, `--cadences nightly,hourly,five,minute`, `--crowds none,hundred,thousands,hung,unlisted`;
 * an empty list leaves that part out. With UPDATE_DOCS=1 the tables go into their pages. Exits 1 when anything that is recorded is not true.
 */
import { parseArgs } from "node:util";
import { withSql } from "../../src/store/connection/connect.ts";
import { startDatabaseServer } from "../../test/support/database-server.ts";
import { replaceDatabase } from "../../test/support/replace-database.ts";
import { CADENCES, playCadence, renderCadences } from "./cadences.ts";
import { writeTable } from "./doc-table.ts";
import { CROWDS, measureCrowd, renderCrowds } from "./open-builds.ts";
import { startSessionPool } from "./session-pool.ts";

const { values } = parseArgs({
  options: {
    days: { type: "string", default: "30" },
    builds: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    cadences: { type: "string", default: Object.keys(CADENCES).join() },
    crowds: { type: "string", default: Object.keys(CROWDS).join() },
  },
});
const month = { days: Number(values.days), builds: Number(values.builds), seed: Number(values.seed) };
if (!(month.days > 0) || !(month.builds > 0) || !Number.isInteger(month.seed))
  throw new Error("--days and --builds take a number above 0, --seed a whole number");
const began = performance.now();
const print = (line: string) =>
  process.stderr.write(`${((performance.now() - began) / 60_000).toFixed(1)} min: ${line}\n`);

const server = await startDatabaseServer(process.env.TEST_DATABASE_URL);
const pool = await startSessionPool(server.adminUrl);
try {
  print(`on ${server.description}: ${month.builds} builds in ${month.days} days, seed ${month.seed}`);
  const verdicts = await playAll(values.cadences, (url, name) => playCadence(url, name, month, print));
  if (verdicts.size > 0) publish("month", renderCadences(verdicts));
  if ([...verdicts.values()].some(({ faults }) => faults.length > 0)) process.exitCode = 1;
  const costs = await playAll(values.crowds, (url, name) => measureCrowd(url, name, print));
  if (costs.size > 0) publish("requests", renderCrowds(costs));
} finally {
  await pool[Symbol.asyncDispose]();
  await server.stop();
}

/** Plays all that a list names side by side, each on a database of its own; the outcomes are in the order of the list. */
async function playAll<T>(
  names: string,
  play: (databaseUrl: string, name: string) => Promise<T>,
): Promise<Map<string, T>> {
  const all = names === "" ? [] : names.split(",");
  const outcomes = await Promise.all(all.map(async (name) => [name, await playOne(name, play)] as const));
  return new Map(outcomes);
}

async function playOne<T>(name: string, play: (databaseUrl: string, name: string) => Promise<T>): Promise<T> {
  const database = `docmirror_month_${process.pid}_${name}`;
  const admin = (statement: string) =>
    withSql(server.adminUrl, { applicationName: "docmirror test", max: 1 }, (sql) => sql.unsafe(statement));
  await admin(`create database ${database} template ${server.template}`);
  try {
    return await play(pool.through(replaceDatabase(server.adminUrl, database)), name);
  } finally {
    await admin(`drop database if exists ${database} with (force)`);
  }
}

function publish(mark: "month" | "requests", table: string): void {
  process.stdout.write(`${table}\n`);
  if (process.env.UPDATE_DOCS) writeTable(mark, table);
}
