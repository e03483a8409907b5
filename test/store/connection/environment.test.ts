import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { afterEach, describe, expect, test } from "vitest";
import { connect, withSql } from "../../../src/store/connection/connect.ts";
import { parseDatabaseUrl, withDefaults } from "../../../src/store/connection/database-url.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

const database = useDatabase(() => emptyDatabase(1));

/** The options that the driver takes from the environment where it is not given them, as its source has them. */
function readDriverVariables(): string[] {
  const source = readFileSync(
    createRequire(import.meta.url)
      .resolve("postgres")
      .replace(/cjs\/src/, "src"),
    "utf8",
  );
  const [, defaults = ""] = /const defaults = \{(.*?)\n {2}\}/s.exec(source) ?? [];
  const options = [...defaults.matchAll(/^ +(\w+) *:/gm)].map(([, name = ""]) => `PG${name.toUpperCase()}`);
  const named = [...source.matchAll(/env\.(PG\w+)/g)].map(([, name = ""]) => name);
  return [...new Set([...options, ...named])];
}

/** "Environment Variables" of libpq, in the manual of Postgres 18. */
const LIBPQ =
  `PGHOST PGSSLNEGOTIATION PGHOSTADDR PGPORT PGDATABASE PGUSER PGPASSWORD PGPASSFILE PGREQUIREAUTH PGCHANNELBINDING PGSERVICE
  PGSERVICEFILE PGOPTIONS PGAPPNAME PGSSLMODE PGREQUIRESSL PGSSLCOMPRESSION PGSSLCERT PGSSLKEY PGSSLCERTMODE PGSSLROOTCERT PGSSLCRL PGSSLCRLDIR
  PGSSLSNI PGREQUIREPEER PGSSLMINPROTOCOLVERSION PGSSLMAXPROTOCOLVERSION PGGSSENCMODE PGKRBSRVNAME PGGSSLIB PGGSSDELEGATION PGCONNECT_TIMEOUT
  PGCLIENTENCODING PGTARGETSESSIONATTRS PGLOADBALANCEHOSTS PGMINPROTOCOLVERSION PGMAXPROTOCOLVERSION PGDATESTYLE PGTZ PGGEQO PGSYSCONFDIR
  PGLOCALEDIR`.split(/\s+/);

describe("the variables of other programs", () => {
  const before = { ...process.env };
  afterEach(() => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  });

  test("are all known, also those that the driver reads", () => {
    expect(readDriverVariables()).toEqual(
      expect.arrayContaining(["PGSSL", "PGMAX", "PGUSERNAME", "PGBACKOFF"]),
    );
  });

  test.each([...new Set([...LIBPQ, ...readDriverVariables()])])("%s changes no connection", async (name) => {
    for (const value of ["true", "verify-full"]) {
      process.env[name] = value;
      const asked = await withSql(
        database.url,
        { applicationName: "docmirror test", max: 1 },
        async (sql) => [...(await sql`select 1 as one, current_setting('application_name') as name`)],
      );
      expect(asked).toEqual([{ one: 1, name: "docmirror test" }]);
      expect(process.env[name]).toBe(value);
    }
  });

  test("are hidden from a pool that has lost its connections, too", async () => {
    const sql = connect(database.url, { applicationName: "docmirror test", max: 1 });
    try {
      const [row] = await sql`select pg_backend_pid() as pid`;
      process.env.PGSSL = "true";
      await database.sql`select pg_terminate_backend(${row?.pid})`;
      await expect.poll(async () => (await sql`select 1 as one`.catch(() => []))[0]).toEqual({ one: 1 });
    } finally {
      await sql.end();
    }
  });
});

describe("the defaults of a URL", () => {
  const all = [
    ["user", "you"],
    ["password", "p@ss"],
    ["dbname", "theirs"],
    ["sslmode", "disable"],
  ] as const;

  test.each([
    ["postgres://", "postgres://?user=you&password=p%40ss&dbname=theirs&sslmode=disable"],
    ["postgres://me@h/m", "postgres://me@h/m?password=p%40ss&sslmode=disable"],
    ["postgres://me:mine@h/m?sslmode=require", "postgres://me:mine@h/m?sslmode=require"],
    ["postgres://me:a:b@h/m?sslmode=", "postgres://me:a:b@h/m?sslmode=&sslmode=disable"],
    ["postgres://h,i/?user=me&dbname=m", "postgres://h,i/?user=me&dbname=m&password=p%40ss&sslmode=disable"],
    ["nothing of a URL", "nothing of a URL"],
  ])("%s becomes %s", (url, completed) => {
    expect(withDefaults(url, all)).toBe(completed);
  });

  test("whose file is missing name their variable", () => {
    const url = withDefaults("postgres://h", [["sslrootcert", "/nowhere"]]);
    expect(() => parseDatabaseUrl(url)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining("PGSSLROOTCERT") }),
    );
  });
});
