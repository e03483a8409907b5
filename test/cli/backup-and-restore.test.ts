import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type CliResult, runCli, startCli } from "../support/cli.ts";
import { createDataDir } from "../support/data-dir.ts";
import { createTestDatabase, withTestSql } from "../support/database.ts";
import { useFolder } from "../support/folder.ts";
import { HELD } from "../support/leases.ts";
import { fingerprintTables } from "../support/mirror-rows.ts";
import { makeNextRelease } from "../support/next-release.ts";
import { createReportedMirror } from "../support/reported-mirror.ts";
import { useDatabase } from "../support/use-database.ts";

const folder = useFolder("docmirror-backup-");
const source = useDatabase(createReportedMirror);
const { sql } = source;
const env = () => ({ DATABASE_URL: source.url });
const backUp = (...args: string[]) => runCli(["backup", ...args], { env: env() });
let file: string;

beforeAll(async () => {
  file = folder.at("mirror.backup");
  await backUp(file);
});

const emptyDatabase = () => createTestDatabase({ migrated: false });
const restore = (url: string, from = file, ...args: string[]) =>
  runCli(["restore", from, ...args], { env: { DATABASE_URL: url } });

/** Each row of the backup is in a database, but for when its reports were looked at, and for the backups that were made since. */
async function expectRestored(url: string): Promise<void> {
  const { "rollup.state": _state, "sync.jobs": _jobs, ...wanted } = await fingerprintTables(sql);
  expect(await withTestSql(url, fingerprintTables)).toMatchObject(wanted);
}

describe("docmirror restore", () => {
  it("brings each row back, and refuses a place with a mirror", async () => {
    await using target = await emptyDatabase();
    const { code, stdout } = await restore(target.url);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[\d,]+ rows as of \S+Z are in the database postgres:.*`docmirror sync --full`/);
    await expectRestored(target.url);
    const stderr = expect.stringMatching(/there is a mirror in the database \S+ already: .*\n {2}name a new/);
    expect(await restore(target.url)).toMatchObject({ code: 2, stdout: "", stderr });
    await expectRestored(target.url);
  });

  it("prints what was in the file as JSON", { tags: ["long"] }, async () => {
    await using target = await emptyDatabase();
    const { stdout } = await restore(target.url, file, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ file, rows: { "mirror.builds": 204 } });
  });

  it("makes nothing of a file that is no whole backup, exit code 2", async () => {
    const damaged = folder.at("damaged.backup");
    await writeFile(damaged, (await readFile(file)).subarray(0, 5000));
    const data = folder.at("data");
    const { code, stderr } = await runCli(["restore", damaged, "--data-dir", data]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("it is cut off") });
    expect(existsSync(data)).toBe(false);
  });

  it("waits for nobody: a run that is under way there is exit code 10", async () => {
    await using target = await createTestDatabase();
    await target.sql.unsafe(HELD("run"));
    const stderr = expect.stringContaining("stop the worker there");
    expect(await restore(target.url)).toMatchObject({ code: 10, stderr });
  });

  it("that is stopped leaves nothing", { tags: ["long"] }, async () => {
    await using target = await emptyDatabase();
    await withTestSql(target.url, async (other) => {
      // What migrations wait for.
      await other`select pg_advisory_lock(7305110624)`;
      await using running = startCli(["restore", file], { env: { DATABASE_URL: target.url } });
      const waits = () => other`select from pg_locks where not granted and locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`;
      await expect.poll(async () => (await waits()).length).toBe(1);
      expect(await running.stop("SIGINT")).toMatchObject({ code: 130, stdout: "" });
      const [left] = await other`select count(*)::int as schemas from pg_namespace where nspname = 'mirror'`;
      expect(left?.schemas).toBe(0);
    });
  });

  it("makes an embedded Postgres, whose backup goes back into any other", { tags: ["long"] }, async () => {
    await using data = await createDataDir();
    const other = folder.at("embedded.backup");
    expect((await runCli(["restore", file, "--data-dir", data.path])).code).toBe(0);
    await data.withDatabase(expectRestored);
    expect((await runCli(["backup", other, "--data-dir", data.path])).code).toBe(0);
    await using target = await emptyDatabase();
    expect((await restore(target.url, other)).code).toBe(0);
    await expectRestored(target.url);
  });

  it("brings old rows up to date in the next release, whose backup this one refuses", {
    tags: ["long"],
    timeout: 300_000,
  }, async () => {
    using next = makeNextRelease({
      migration: `-- not additive: moves old rows
ALTER TABLE "mirror"."projects" ADD COLUMN "loud_name" text;
--> statement-breakpoint
UPDATE "mirror"."projects" SET "loud_name" = upper("name");`,
      definitions: {
        "builds_source.sql": (text) => `${text}\n-- the next one`,
        "failing_now.sql": (text) => text.replace(/ AS reference$/m, " AS reference, 1 AS next_column"),
      },
    });
    await using target = await emptyDatabase();
    const env = { DATABASE_URL: target.url };
    expect(await runCli(["restore", file], { env, script: next.script })).toMatchObject({ code: 0 });
    await withTestSql(target.url, async (restored) => {
      const names = await sql`select id, upper(name) as loud_name from mirror.projects order by id`;
      expect(await restored`select id, loud_name from mirror.projects order by id`).toEqual(names);
      const columns = await restored`select next_column from report.failing_now limit 1`;
      expect(columns).toEqual([{ next_column: 1 }]);
    });
    const later = folder.at("later.backup");
    expect(await runCli(["backup", later], { env, script: next.script })).toMatchObject({ code: 0 });
    await using other = await emptyDatabase();
    const stderr = expect.stringContaining("docmirror 9.0.0 made it, whose schema this program does not");
    expect(await restore(other.url, later)).toMatchObject({ code: 7, stderr });
  });
});

describe("docmirror backup", () => {
  it("says what is in the file, as a sentence or as JSON", async () => {
    const { code, stdout } = await backUp(file);
    expect(code).toBe(0);
    expect(stdout).toMatch(/mirror\.backup: [\d,]+ rows as of \d{4}-\S+Z, \d+\.\d MB, read back\n$/);
    const { file: named, bytes, rows } = JSON.parse((await backUp(file, "--json")).stdout);
    expect({ named, bytes }).toEqual({ named: file, bytes: (await readFile(file)).length });
    expect(rows).toMatchObject({ "mirror.builds": 204, "mirror.projects": 4, "mirror.users": 1 });
  });

  it("adds one to a folder with --keep, removes old ones, and notes how that ended", {
    tags: ["long"],
  }, async () => {
    const place = folder.at("kept");
    await mkdir(place);
    const old = ["2024-11-01", "2024-11-02"].map((day) => `docmirror-${day}T021700Z.backup`);
    for (const name of old) await backUp(`${place}/${name}`);
    const first = JSON.parse((await backUp(place, "--keep", "1", "--json")).stdout);
    expect(first).toMatchObject({ removed: old.toReversed().map((name) => `${place}/${name}`) });
    expect(await readdir(place)).toEqual([basename(first.file)]);
    const stored = async () => (await sql`select what, bytes, failures, error from sync.jobs`)[0];
    expect(await stored()).toEqual({ what: first.file, bytes: first.bytes, failures: 0, error: null });
    await rename(place, `${place}-away`);
    const gone = `the folder ${place} is not there`;
    expect(await backUp(place, "--keep", "1")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(gone),
    });
    expect(await stored()).toEqual({ what: first.file, bytes: first.bytes, failures: 1, error: gone });
  });

  it.each<[what: string, run: () => Promise<CliResult>, code: number, says: string]>([
    ["without a file", () => backUp(), 2, "missing required argument 'file'"],
    ["to no name", () => backUp(""), 2, "the file has no name"],
    ["to a folder", () => backUp(folder.path), 2, "is a folder"],
    ["to a device", () => backUp("/dev/null"), 2, "/dev/null is not a file"],
    ["into no folder", () => backUp(folder.at("no", "x")), 2, "its folder is not there"],
    ["to a file with --keep", () => backUp("/dev/null", "--keep", "3"), 2, "/dev/null is not a folder"],
    ["of no mirror", () => runCli(["backup", "x"]), 7, "There is no mirror in ./.docmirror yet"],
  ])("%s ends with one sentence", async (_what, run, code, says) => {
    const result = await run();
    expect(result).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(says) });
  });

  it("that is stopped leaves the last one and nothing else", { tags: ["long"] }, async () => {
    const file = folder.at("stopped.backup");
    await backUp(file);
    const before = await readFile(file);
    const names = await readdir(folder.path);
    await sql.begin(async (tx) => {
      await tx`lock table mirror.builds in access exclusive mode`;
      await using running = startCli(["backup", file], { env: env() });
      const waits = () => tx`select from pg_locks where not granted and relation = 'mirror.builds'::regclass`;
      await expect.poll(async () => (await waits()).length).toBe(1);
      expect(await running.stop("SIGINT")).toMatchObject({ code: 130, stdout: "" });
    });
    expect(await readFile(file)).toEqual(before);
    expect(await readdir(folder.path)).toEqual(names);
  });
});
