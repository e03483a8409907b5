import { readdirSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { describeDatabase } from "../../../src/store/connection/connect.ts";
import { type CommandLine, runCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";
import { useFolder } from "../../support/folder.ts";

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

/** Where each command runs. It makes nothing there. */
const folder = useFolder("docmirror-none-");
afterEach(() => expect(readdirSync(folder.path)).toEqual([]));

const run = (args: CommandLine, env: Record<string, string> = {}) => runCli(args, { cwd: folder.path, env });

describe("where no mirror is", () => {
  it.each([
    ...READERS,
    ["migrate", "--status"],
    ["migrate", "--dry-run"],
  ])("%s %s %s makes nothing and exits 7", async (...args) => {
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 7, stdout: "" });
    expect(stderr).toMatch(/^docmirror: There is no mirror in \.\/\.docmirror yet; `.*\n {2}\S.*\n$/);
  });

  it("a folder elsewhere is named as it is", async () => {
    const { code, stderr } = await run(["status", "--data-dir", "/nobody/made/this"]);
    expect(code).toBe(7);
    expect(stderr).toContain("There is no mirror in /nobody/made/this yet;");
  });
});

describe("a database without our schema", () => {
  it.each(READERS)("is no mirror to %s %s %s: exit 7, nothing made", { tags: ["long"] }, async (...args) => {
    await using database = await createTestDatabase({ migrated: false });
    const { code, stderr } = await run(args, { DATABASE_URL: database.url });
    expect(code).toBe(7);
    const place = `the database ${describeDatabase(database.url)}`;
    expect(stderr).toContain(`There is no mirror in ${place} yet; \`docmirror sync\` makes one\n`);
    const schemas = ["mirror", "sync", "report", "drizzle"];
    expect(await database.sql`select from pg_namespace where nspname = any (${schemas}::text[])`).toEqual([]);
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
    const ask = (statement: string) => database.sql.unsafe(statement);
    await ask("update sync.definitions set hash = '', version = '0.0.0' where name = 'report.freshness'");
    const before = await ask(defined);
    const { code, stderr } = await run(args, { DATABASE_URL: database.url });
    expect(code).toBe(7);
    expect(stderr).toMatch(/older than this program, .* report\.freshness\n {2}run `docmirror migrate`/);
    expect(await ask(defined)).toEqual(before);
  });
});
