/**
 * `npm run test:upgrades`: every state of this branch since the first release, told apart by its migrations and SQL, mirrors a living
 * simulated service, and this checkout upgrades that mirror and reads the service whole. Then the mirror must have the records and
 * answers of a fresh one, and all of its own history. Needs git's history. The packages of each earlier lock are installed once.
 *
 * Options: `--since COMMIT`, `--folder DIR` (keeps checkouts and packages for the next time), `--only COMMIT,…`. Exits 1 on any fault.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { startSimulation } from "../../src/simulate/service.ts";
import { createWorld } from "../../src/simulate/world.ts";
import { replaceDatabase, withSql } from "../../src/store/connection/connect.ts";
import { startCli } from "../../test/support/cli.ts";
import { startDatabaseServer } from "../../test/support/database-server.ts";
import {
  findAnswerDifferences,
  findLost,
  findRecordDifferences,
  forgetDeleted,
  readHistory,
} from "../../test/upgrade/compare-upgraded.ts";

/** The first release; before it migrations were still edited. */
const FIRST_RELEASE = "75cb7209";
const MINUTE_MS = 60_000;
/** How long before now the mirrored time begins. */
const AGO_MS = 120 * MINUTE_MS;
/** What a user must do first. For three hours a program of part 9 made this table itself, and a migration made it from then on. */
const PREPARED: Record<string, string> = { "6c76ff6f": "drop table sync.places" };
/** Of a fault, this much is printed. */
const TOLD = 3;

const { values } = parseArgs({
  options: {
    since: { type: "string", default: `${FIRST_RELEASE}^` },
    folder: { type: "string" },
    only: { type: "string" },
  },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);
const git = (...args: string[]): string => execFileSync("git", args, { encoding: "utf8" }).trim();

interface State {
  commit: string;
  subject: string;
  lock: string;
}

/** The last commit with each set of migrations and SQL, oldest first. Without those that had a migration which was edited before it landed. */
function findStates(since: string): State[] {
  const states = new Map<string, State>();
  const migrations = new Set(git("ls-tree", "-r", "HEAD", "migrations").split("\n"));
  for (const line of git("log", "--first-parent", "--reverse", "--format=%h %s", `${since}..HEAD`).split(
    "\n",
  )) {
    const [commit = "", ...subject] = line.split(" ");
    const files = git("ls-tree", "-r", commit, "migrations", "src").split("\n");
    const sql = files.filter((file) => file.endsWith(".sql"));
    if (sql.some((file) => file.includes("\tmigrations/") && !migrations.has(file))) continue;
    const schema = sql.join("\n");
    const lock = git("rev-parse", "--short", `${commit}:package-lock.json`);
    states.set(createHash("sha1").update(schema).digest("hex"), { commit, subject: subject.join(" "), lock });
  }
  return [...states.values()];
}

/** A checkout of a commit, with the packages of its lock. Returns its program. */
function checkOut({ commit, lock }: State, folder: string): URL {
  const packages = join(folder, `packages-${lock}`);
  if (!existsSync(join(packages, "node_modules"))) {
    mkdirSync(packages, { recursive: true });
    for (const name of ["package.json", "package-lock.json"])
      writeFileSync(join(packages, name), git("show", `${commit}:${name}`));
    execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: packages,
      stdio: "ignore",
    });
  }
  const checkout = join(folder, commit);
  if (!existsSync(checkout)) {
    mkdirSync(checkout);
    const files = execFileSync("git", ["archive", commit], { maxBuffer: 1 << 30 });
    execFileSync("tar", ["-x", "-C", checkout], { input: files });
    symlinkSync(join(packages, "node_modules"), join(checkout, "node_modules"));
  }
  return pathToFileURL(join(checkout, "src/cli/main.ts"));
}

/** The same life of a service for every state: it begins two hours ago, and has come to now when `advance` was called twice. */
function createLife(startAt: Date) {
  const world = createWorld({
    ...{ seed: 20, users: 40, projects: 30, versions: 100, files: 80, builds: 400, outputBytes: 120 },
    ...{ startAt, stuckShare: 0.03, hiddenShare: 0 },
    rates: {
      ...{
        builds: 700,
        buildDeletions: 300,
        projectChanges: 60,
        administratorChanges: 12,
        hides: 0,
        logins: 40,
      },
      ...{ newUsers: 12, userDeletions: 0, newProjects: 12, projectDeletions: 6, versionChanges: 40 },
      ...{ newVersions: 24, versionDeletions: 12, newFiles: 24, fileDeletions: 12 },
    },
  });
  return { world, advance: () => world.advance(AGO_MS / 2) };
}

const folder = values.folder ?? mkdtempSync(join(tmpdir(), "docmirror-upgrades-"));
mkdirSync(folder, { recursive: true });
const server = await startDatabaseServer(process.env.TEST_DATABASE_URL);
const runStatement = (url: string, statement: string) =>
  withSql(url, { applicationName: "docmirror test", max: 1 }, (sql) => sql.unsafe(statement));
const admin = (statement: string) => runStatement(server.adminUrl, statement);
const urlOf = (name: string) => replaceDatabase(server.adminUrl, name);
const createDatabase = (name: string, template = "template0") =>
  admin(`create database ${name} template ${template}`);
const dropDatabase = (name: string) => admin(`drop database if exists ${name} with (force)`);

async function run(
  database: string,
  serviceUrl: string,
  args: string[],
  script?: URL,
  codes = [0],
): Promise<void> {
  const { code, stderr } = await startCli(args, {
    env: {
      ...{ DATABASE_URL: urlOf(database), DOCMIRROR_BASE_URL: serviceUrl, DOCMIRROR_RATE: "1000" },
      // What is gone was seen a moment ago.
      ...(script ? {} : { DOCMIRROR_REPLICA_LAG: "0s", DOCMIRROR_MAX_DELETE_RATIO: "1" }),
    },
    ...(script && { script }),
  }).ended;
  if (code === null || !codes.includes(code))
    throw new Error(`${args.join(" ")} ended with ${code}: ${stderr.slice(-600)}`);
}

/** Mirrors by an earlier program, upgrades, and says what is wrong. */
async function upgrade(state: State, startAt: Date, fresh: string): Promise<string[]> {
  const program = checkOut(state, folder);
  const { world, advance } = createLife(startAt);
  const simulation = await startSimulation({ world });
  const [mirror, copy] = [`upgraded_${state.commit}`, `compared_${state.commit}`];
  await createDatabase(mirror);
  try {
    // A clock of the service that is behind is a warning, and 3 is what an earlier program may have made of it.
    await run(mirror, simulation.url, ["sync"], program, [0, 3]);
    advance();
    await run(mirror, simulation.url, ["watch", "--once"], program, [0, 3]);
    await run(mirror, simulation.url, ["sync", "--full"], program, [0, 3]);
    advance();
    const before = await readHistory(urlOf(mirror));
    await runStatement(urlOf(mirror), PREPARED[state.commit] ?? "");
    await run(mirror, simulation.url, ["migrate"]);
    await run(mirror, simulation.url, ["sync", "--full"]);
    await createDatabase(copy, mirror);
    await forgetDeleted(urlOf(copy));
    // Builds become stuck as time goes by, so both are computed now.
    for (const name of [copy, fresh]) await run(name, simulation.url, ["report", "freshness"]);
    const lost = Object.entries(findLost(before, await readHistory(urlOf(mirror))));
    const faults = [
      ...(before.changes.length > 0 && before.transitions.length > 0
        ? []
        : ["the earlier mirror had no history"]),
      ...lost.flatMap(([name, rows]) => rows.map((row) => `lost of ${name}: ${row}`)),
      ...(await findRecordDifferences(urlOf(mirror), urlOf(fresh))),
      ...(await findAnswerDifferences(urlOf(copy), urlOf(fresh))),
    ];
    const counted = Object.entries(before).map(([name, rows]) => `${rows.length} ${name}`);
    print(
      `${state.commit} ${faults.length === 0 ? "well" : `${faults.length} FAULTS`} (${counted.join(", ")}): ${state.subject}`,
    );
    return faults;
  } catch (error) {
    print(`${state.commit} FAILED: ${state.subject}`);
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    await simulation.close();
    await dropDatabase(copy);
    await dropDatabase(mirror);
  }
}

const only = values.only?.split(",");
const states = findStates(values.since).filter(({ commit }) => only?.includes(commit) ?? true);
print(`${states.length} states, on ${server.description}`);
const startAt = new Date(Date.now() - AGO_MS);
let faulty = 0;
try {
  const { world, advance } = createLife(startAt);
  advance();
  advance();
  const simulation = await startSimulation({ world });
  await createDatabase("fresh");
  await run("fresh", simulation.url, ["sync"]);
  await simulation.close();
  for (const state of states) {
    const faults = await upgrade(state, startAt, "fresh");
    for (const fault of faults.slice(0, TOLD)) print(`  ${fault.slice(0, 400)}`);
    if (faults.length > 0) faulty++;
  }
  print(`${faulty} of ${states.length} states have faults`);
  if (faulty > 0) process.exitCode = 1;
} finally {
  await dropDatabase("fresh");
  await server.stop();
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}
