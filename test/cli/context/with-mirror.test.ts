import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startSimulation } from "../../../src/simulate/service.ts";
import { createWorld } from "../../../src/simulate/world.ts";
import { describeDatabase, withSql } from "../../../src/store/connection/connect.ts";
import { runCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";

/** Every command that reads a mirror, and those that change one which must be there already. */
const READERS = [
  ["status"],
  ["report", "failing_now"],
  ["report", "freshness", "--json"],
  ["serve", "--http-port", "0"],
  ["explain", "build", "1"],
  ["export", "--out", "exported"],
  ["quarantine"],
  ["quarantine", "--retry", "--base-url", "http://127.0.0.1:1"],
  ["prune", "--older-than", "400d", "--dry-run"],
  ["prune", "--older-than", "400d"],
  ["reclassify"],
  ["grant-reader", "bi", "--dry-run"],
];

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "docmirror-none-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const run = (args: readonly string[], env: Record<string, string> = {}) => runCli(args, { cwd, env });

describe("where no mirror is", () => {
  it.each([
    ...READERS,
    ["migrate", "--status"],
    ["migrate", "--dry-run"],
  ])("%s %s %s makes nothing and exits 7", async (...args) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
    expect(stderr).toMatch(
      /^docmirror: There is no mirror in \.\/\.docmirror yet; `docmirror sync` makes one\n {2}\S.*\n$/,
    );
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("a folder elsewhere is named as it is", async () => {
    const folder = join(tmpdir(), "docmirror-nobody-made-this");
    const { code, stderr } = await run(["status", "--data-dir", folder]);
    expect(code).toBe(7);
    expect(stderr).toContain(`There is no mirror in ${folder} yet;`);
  });

  it("sync --dry-run counts everything as new, and makes nothing", { tags: ["long"] }, async () => {
    const service = await startSimulation({ world: createWorld({ projects: 3, builds: 20 }) });
    try {
      const { code, stdout } = await run([
        "sync",
        "--dry-run",
        "--json",
        "--base-url",
        service.url,
        "--rate",
        "0",
      ]);
      expect(code).toBe(0);
      const { project } = JSON.parse(stdout).resources;
      expect(project).toMatchObject({ records: 3, inserted: 3 });
      expect(readdirSync(cwd)).toEqual([]);
    } finally {
      await service.close();
    }
  });
});

describe("a database without our schema", () => {
  it.each(READERS)("is no mirror to %s %s %s, which exits 7 and makes nothing", {
    tags: ["long"],
  }, async (...args) => {
    await using database = await createTestDatabase({ migrated: false });
    const { code, stderr } = await run(args, { DATABASE_URL: database.url });
    expect(code).toBe(7);
    expect(stderr).toContain(
      `docmirror: There is no mirror in ${`the database ${describeDatabase(database.url)}`} yet; \`docmirror sync\` makes one\n`,
    );
    const schemas = await withSql(database.url, { applicationName: "docmirror test", max: 1 }, (sql) => {
      return sql`select nspname from pg_namespace where nspname in ('mirror', 'sync', 'report', 'drizzle')`;
    });
    expect(schemas).toEqual([]);
  });
});

describe("a mirror with an older schema", () => {
  it.each([
    ["status"],
    ["serve", "--http-port", "0"],
    ["report", "runs"],
    ["quarantine"],
  ])("is older to %s, which exits 7 and leaves it", async (...args) => {
    await using database = await createTestDatabase();
    const defined = "select hash from sync.definitions where name = 'report.freshness'";
    const ask = (statement: string) =>
      withSql(database.url, { applicationName: "docmirror test", max: 1 }, (sql) => sql.unsafe(statement));
    await ask("update sync.definitions set hash = '', version = '0.0.0' where name = 'report.freshness'");
    const before = await ask(defined);
    const { code, stderr } = await run(args, { DATABASE_URL: database.url });
    expect(code).toBe(7);
    expect(stderr).toMatch(
      /its schema is older than this program, it lacks the new definition of report\.freshness\n {2}run `docmirror migrate`/,
    );
    expect(await ask(defined)).toEqual(before);
  });
});
