import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readDefinitions } from "../../src/report/definitions.ts";
import { withSnapshot } from "../../src/report/read-answer.ts";
import { readStatement } from "../../src/report/read-statement.ts";
import { ensureReader } from "../../src/report/reader-login.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";
import { runCli, startCli } from "../support/cli.ts";
import { createDataDir } from "../support/data-dir.ts";
import { createReportedMirror } from "../support/reported-mirror.ts";
import { roleName } from "../support/roles.ts";
import { useDatabase } from "../support/use-database.ts";

const role = roleName();
const database = useDatabase(createReportedMirror);
const { sql } = database;

beforeAll(async () => {
  await runCli(["grant-reader", role], { env: { DATABASE_URL: database.url } });
});
afterAll(() => sql.unsafe(`drop owned by ${role}; drop role ${role}`));

const env = () => ({ DATABASE_URL: database.url });
const ask = (text: string, ...args: string[]) =>
  runCli(["sql", text, "--role", role, ...args], { env: env() });
const BUILDS =
  "select build_id, succeeded, triggered_at, 'ü, x' as word from report.fact_builds where build_id = '1'";

describe("docmirror sql", () => {
  it("prints the rows of a query as a table, CSV or JSON, with a mark for Excel where it is asked for", async () => {
    const table = await ask(`${BUILDS}; -- with a semicolon`);
    expect(table).toMatchObject({ code: 0, stderr: "" });
    expect(table.stdout).toBe(
      "build_id  succeeded  triggered_at          word\n1                 1  2025-06-01T09:00:00Z  ü, x\n",
    );
    const csv = 'build_id,succeeded,triggered_at,word\r\n1,1,2025-06-01T09:00:00.001001Z,"ü, x"\r\n';
    expect((await ask(BUILDS, "--format", "csv")).stdout).toBe(csv);
    expect((await ask(BUILDS, "--format", "csv", "--bom")).stdout).toBe(`\ufeff${csv}`);
    expect(JSON.parse((await ask(BUILDS, "--json")).stdout)).toEqual({
      columns: ["build_id", "succeeded", "triggered_at", "word"],
      rows: [{ build_id: "1", succeeded: 1, triggered_at: "2025-06-01T09:00:00.001001Z", word: "ü, x" }],
    });
  });

  it("has a value of every type in JSON, and the columns also of no rows", async () => {
    const { stdout } = await ask(
      `select array[1, 2] as list, '{"a":1}'::jsonb as object, 1.50 as number, 12345678901234567890 as long,
        'NaN'::float8 as none, '\\x01ff'::bytea as bytes, interval '1 h' as span, null as nothing`,
      "--json",
    );
    expect(JSON.parse(stdout).rows).toEqual([
      {
        list: "[1,2]",
        object: '{"a":1}',
        number: 1.5,
        long: "12345678901234567890",
        none: "NaN",
        bytes: "\\x01ff",
        span: "01:00:00",
        nothing: null,
      },
    ]);
    expect((await ask("select 1 as one where false", "--format", "csv")).stdout).toBe("one\r\n");
  });

  it.each([
    ["select 1; drop table report.error_rules", "cannot insert multiple commands", "one query"],
    ["commit", 'syntax error at or near "commit", at line 1, column 1', "one query"],
    ["delete from report.error_rules", 'syntax error at or near "delete"', "one query"],
    ["with gone as (delete from report.error_rules returning 1) table gone", "data-modifying", "one query"],
    ["select lo_create(0)", "in a read-only transaction", ""],
    ["select set_config('transaction_read_only', 'off', true)", "must be set before any query", ""],
    ["select pg_read_file('/etc/passwd')", "permission denied for function pg_read_file", ""],
    ["copy (select 1) to program 'id'", 'syntax error at or near "copy"', "one query"],
    ["set role none", 'syntax error at or near "set"', "one query"],
    ["\\d", 'syntax error at or near "\\"', "one query"],
    ["select * into kept from report.freshness", "INTO is not allowed here", "one query"],
    ["select * from mirror.users", "permission denied for schema mirror", "--interface"],
    [
      "select username from report_people.users",
      "permission denied for schema report_people",
      "--with-people",
    ],
    ["select\n  ü, wrong from report.fact_builds", "at line 2, column 3", "docs/data-dictionary.md"],
    ["select project_slg from report.dim_projects", "does not exist", "Perhaps you meant"],
    [
      "select f.maintainers from report.failing_projects f",
      "does not exist",
      "report_people.failing_projects",
    ],
    ["table report.failing_nw", 'relation "report.failing_nw" does not exist', "write report.failing_now"],
    ["select count(*) from failing_now", 'relation "failing_now"', "write report.failing_now"],
    ["select $1", "requires 1", "write the values"],
    ["select 1 / 0", "division by zero", ""],
    [" ", "there is no statement", ""],
  ])("refuses %j with one sentence and exit code 2, and changes nothing", async (text, message, hint) => {
    const rules = await sql`select count(*) from report.error_rules`;
    const { code, stdout, stderr } = await ask(text);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    for (const text of [message, hint]) expect(stderr).toContain(text);
    expect(await sql`select count(*) from report.error_rules`).toEqual(rules);
  });

  it("refuses a JSON document with two columns of one name, which a table can have", async () => {
    const twice = "select 1 as one, 2 as one";
    expect((await ask(twice)).stdout).toBe("one  one\n  1    2\n");
    expect(await ask(twice, "--json")).toMatchObject({ code: 2, stderr: expect.stringContaining("AS") });
  });

  it("wants a role that only reads", async () => {
    const as = (name: string) => runCli(["sql", "select 1", "--role", name], { env: env() });
    const unknown = expect.stringMatching(/there is no role docmirror_nobody\n.*grant-reader/);
    expect(await as("docmirror_nobody")).toMatchObject({ code: 2, stderr: unknown });
    const [{ name }] = await sql<[{ name: string }]>`select current_user as name`;
    const stderr = expect.stringContaining(`${name} can read more than the reports`);
    expect(await as(name)).toMatchObject({ code: 2, stderr });
  });

  it("stays what it is where the login only reads", async () => {
    const url = new URL(database.url);
    url.searchParams.set("role", role);
    const answer = await runCli(["sql", "select current_user as name", "--format", "csv"], {
      env: { DOCMIRROR_READ_URL: url.href },
    });
    expect(answer).toMatchObject({ code: 0, stdout: `name\r\n${role}\r\n` });
  });

  it("shows a thousand rows as a table, and all of them as CSV", async () => {
    const many = "select n from generate_series(1, 2600) as n";
    const table = await ask(many);
    expect(table.stdout.split("\n")).toHaveLength(1002);
    expect(table.stderr).toContain("only the first rows are shown");
    expect((await ask(many, "--format", "csv")).stdout.split("\r\n")).toHaveLength(2602);
  });

  it("holds a part of the rows at a time, and fewer where they are long", async () => {
    const sizesOf = (text: string) =>
      withSnapshot(sql, async (tx) => {
        const found: number[] = [];
        for await (const { rows } of readStatement(tx, text)) found.push(rows.length);
        return found;
      });
    expect(await sizesOf("select n from generate_series(1, 1200) as n")).toEqual([20, 500, 500, 180]);
    const long = await sizesOf("select repeat('x', 1000000) from generate_series(1, 30)");
    expect(long).toEqual([20, 4, 4, 2]);
  });

  it("cuts long values of a table before it holds them", { tags: ["long"] }, async () => {
    const { stdout } = await ask("select repeat('ü', 2000000) as long from generate_series(1, 60)");
    expect(stdout).toBe(`long\n${`${"ü".repeat(119)}…\n`.repeat(60)}`);
  });

  it("makes the embedded reader once, though another command makes it too", { tags: ["long"] }, async () => {
    await using data = await createDataDir();
    await data.withDatabase(async (url) => {
      await migrate(url, readDefinitions());
      const options = { applicationName: "docmirror test", max: 2 };
      await withSql(url, options, async (other) => {
        const made = await other.begin(async (tx) => {
          await tx`create role docmirror_reader login`;
          const making = withSql(url, options, ensureReader);
          making.catch(() => {});
          const waits = () => other`select from pg_locks where not granted`;
          await expect.poll(async () => (await waits()).length).toBeGreaterThan(0);
          await tx`grant usage on schema report to docmirror_reader`;
          await tx`grant select on all tables in schema report to docmirror_reader`;
          return { making };
        });
        expect(await made.making).toBe(false);
        await other`drop owned by docmirror_reader`;
        await other`drop role docmirror_reader`;
      });
      const sqlOnce = () => runCli(["sql", "select current_user as name", "--json", "--data-dir", data.path]);
      const [first, second] = [await sqlOnce(), await sqlOnce()];
      expect(first).toMatchObject({ code: 0, stderr: "" });
      expect(second).toMatchObject({ code: 0, stderr: "" });
      expect(JSON.parse(second.stdout).rows).toEqual([{ name: "docmirror_reader" }]);
    });
  });

  it("ends a statement that takes too long with exit code 4", { tags: ["long"] }, async () => {
    const { code, stderr } = await ask("select pg_sleep(600)", "--timeout", "1");
    expect({ code, stderr }).toMatchObject({ code: 4 });
    expect(stderr).toContain("--timeout gives it longer");
  });

  it("ends the statement in Postgres when it is stopped", { tags: ["long"] }, async () => {
    const sessions = () => sql`
      select from pg_stat_activity where state = 'active' and query like '%fetch%'
        and datname = current_database() and application_name like 'docmirror sql%'`;
    await using running = startCli(["sql", "select pg_sleep(600)", "--role", role], { env: env() });
    await expect.poll(async () => (await sessions()).length).toBe(1);
    expect(await running.stop("SIGINT")).toMatchObject({ code: 130, stdout: "" });
    expect(await sessions()).toHaveLength(0);
  });
});
