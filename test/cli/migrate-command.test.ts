import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { fillMirror } from "../../lab/bench/report-world.ts";
import { runText } from "../../src/store/connection/run-statement.ts";
import { withTransaction } from "../../src/store/connection/transaction.ts";
import { readMigrations, recordApplied } from "../../src/store/migrate/migration-ledger.ts";
import { runCli } from "../support/cli.ts";
import { createTestDatabase, inDatabase } from "../support/database.ts";
import { PLANTED_SECRET } from "../support/planted-secret.ts";

function withUser(url: string, user: string, password: string): string {
  return Object.assign(new URL(url), { username: user, password }).href;
}

describe("migrate", () => {
  it("lists and prints what is missing without doing it, then does it once", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase({ migrated: false });
    const migrate = (...args: string[]) =>
      runCli(["migrate", ...args], { env: { DATABASE_URL: database.url } });

    expect(JSON.parse((await migrate("--status", "--json")).stdout)).toMatchObject({
      state: "older",
      unknown: 0,
    });
    expect((await migrate("--dry-run")).stdout).toMatch(/create schema "?mirror"?/i);
    expect((await migrate("--status")).stdout).toMatch(
      /to come +(yes|no)\n\nthe schema of postgres.* is older\n$/,
    );

    const pending = JSON.parse((await migrate("--status", "--json")).stdout).migrations;
    expect(pending.at(-1)).toEqual({
      tag: expect.any(String),
      appliedAt: null,
      additive: expect.any(Boolean),
    });

    const first = await migrate("--json");
    expect({ code: first.code, applied: JSON.parse(first.stdout).applied.length > 0 }).toEqual({
      code: 0,
      applied: true,
    });
    expect(await migrate()).toMatchObject({
      code: 0,
      stdout: "the schema is up to date, nothing to apply\n",
    });
    expect((await migrate("--dry-run")).stdout).toContain("nothing to apply");
    expect(JSON.parse((await migrate("--status", "--json")).stdout)).toMatchObject({ state: "current" });
  });

  it("fills the reports of a mirror that is older than they are", async () => {
    await using database = await createTestDatabase({ migrated: false });
    await inDatabase(database.url, async (sql) => {
      const known = readMigrations();
      await withTransaction(sql, async (tx) => {
        for (const statement of known.flatMap(({ statements }) => statements)) await runText(tx, statement);
        await recordApplied(tx, known);
      });
      await fillMirror(sql, 1000, 10);
      const { code, stderr } = await runCli(["migrate"], { env: { DATABASE_URL: database.url } });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect([...(await sql`select sum(builds)::int as builds from report.success_rate_by_type`)]).toEqual([
        { builds: 1000 },
      ]);
      expect([...(await sql`select relation from report.data_dictionary where description is null`)]).toEqual(
        [],
      );
    });
  });

  it("says which rights a role lacks", async () => {
    await using database = await createTestDatabase();
    const role = `docmirror_test_${randomBytes(6).toString("hex")}`;
    await inDatabase(database.url, async (sql) => {
      await sql.unsafe(`create role ${role} login password 'secret'`);
      const env = { DATABASE_URL: withUser(database.url, role, "secret") };
      try {
        for (const flags of [["--status"], ["--dry-run"], []]) {
          const { code, stdout, stderr } = await runCli(["migrate", ...flags], { env });
          expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
          expect(stderr).toMatch(/permission denied .*\(42501\)\n {2}grant the role the missing rights/);
        }
      } finally {
        await sql.unsafe(`drop role ${role}`);
      }
    });
  });

  it("says what to do about a database that nobody serves, without its password", async () => {
    const env = { DATABASE_URL: `postgres://me:${PLANTED_SECRET}@127.0.0.1:1/mirror` };
    const { code, stdout, stderr } = await runCli(["migrate"], { env });
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(/^docmirror: Cannot reach Postgres at 127\.0\.0\.1:1\n {2}.*\n$/);
    expect(stderr).not.toContain(PLANTED_SECRET);
  });
});
