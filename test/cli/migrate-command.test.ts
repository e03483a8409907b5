import { describe, expect, it } from "vitest";
import { fillMirror } from "../../lab/bench/report-world.ts";
import { runText, withTransaction } from "../../src/store/connection/sql.ts";
import { readMigrations, recordApplied } from "../../src/store/migrate/migration-ledger.ts";
import { runCli } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { createRole } from "../support/roles.ts";

describe("migrate", () => {
  it("lists and prints what is missing without doing it, then does it once", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase({ migrated: false });
    const migrate = (...args: string[]) =>
      runCli(["migrate", ...args], { env: { DATABASE_URL: database.url } });

    const { migrations, ...state } = JSON.parse((await migrate("--status", "--json")).stdout);
    expect(state).toMatchObject({ state: "older", unknown: 0 });
    const pending = { tag: expect.any(String), appliedAt: null, additive: expect.any(Boolean) };
    expect(migrations.at(-1)).toEqual(pending);
    expect((await migrate("--dry-run")).stdout).toMatch(/create schema "?mirror"?/i);
    const { stdout: table } = await migrate("--status");
    expect(table).toMatch(/to come +(yes|no)\n\nthe schema of postgres.* is older\n$/);

    const first = await migrate("--json");
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout).applied).not.toEqual([]);
    const stdout = "the schema is up to date, nothing to apply\n";
    expect(await migrate()).toMatchObject({ code: 0, stdout });
    expect((await migrate("--dry-run")).stdout).toContain("nothing to apply");
    expect(JSON.parse((await migrate("--status", "--json")).stdout)).toMatchObject({ state: "current" });
  });

  it("fills the reports of a mirror that is older than they are", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase({ migrated: false });
    const known = readMigrations();
    await withTransaction(database.sql, async (tx) => {
      for (const statement of known.flatMap(({ statements }) => statements)) await runText(tx, statement);
      await recordApplied(tx, known);
    });
    await fillMirror(database.sql, 1000, 10);
    const { code, stderr } = await runCli(["migrate"], { env: { DATABASE_URL: database.url } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const counts = await database.sql`select sum(builds)::int as builds from report.success_rate_by_type`;
    expect(counts).toEqual([{ builds: 1000 }]);
    expect(await database.sql`select from report.data_dictionary where description is null`).toHaveLength(0);
  });

  it("says which rights a role lacks", async () => {
    await using database = await createTestDatabase();
    await using role = await createRole(database);
    for (const flags of [["--status"], ["--dry-run"], []]) {
      const { code, stdout, stderr } = await runCli(["migrate", ...flags], {
        env: { DATABASE_URL: role.url },
      });
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
      expect(stderr).toMatch(/permission denied .*\(42501\)\n {2}grant the role the missing rights/);
    }
  });
});
