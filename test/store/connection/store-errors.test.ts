import { describe, expect, test } from "vitest";
import { StoreError } from "../../../src/base/errors.ts";
import { withSql } from "../../../src/store/connection/connect.ts";
import { withTransaction } from "../../../src/store/connection/sql.ts";
import { isAway, isPassing, sqlstateOf, toStoreError } from "../../../src/store/connection/store-errors.ts";
import { emptyDatabase, useDatabase } from "../../support/use-database.ts";

const database = useDatabase(() => emptyDatabase(4));
const { sql } = database;
const coded = (code: string, facts: object = {}) => Object.assign(new Error("x"), { code, ...facts });

async function errorOf(url: string): Promise<StoreError> {
  const options = { applicationName: "t", connectTimeoutSeconds: 2 };
  const failed = await withSql(url, options, (own) => own`select 1`).catch((error: unknown) => error);
  const translated = toStoreError(failed, "read the checkpoint");
  if (translated instanceof StoreError) return translated;
  throw failed;
}

const changed = (parts: Partial<URL>) => Object.assign(new URL(database.url), parts).href;

describe("toStoreError", () => {
  test("a database that does not exist is named, with the way to make it", async () => {
    const error = await errorOf(changed({ pathname: "/no_such_database" }));
    expect(error).toMatchObject({ sqlstate: "3D000", exitCode: 4 });
    expect(error.message).toMatch(/^There is no such database: .*no_such_database.*\(3D000\)$/);
    expect(error.hint).toMatch(/createdb/);
  });

  test("a port on which nothing listens", async () => {
    const error = await errorOf("postgres://127.0.0.1:1/m");
    expect(error).toMatchObject({ sqlstate: "ECONNREFUSED" });
    expect(error.message).toBe("Cannot reach Postgres at 127.0.0.1:1");
    expect(error.hint).toMatch(/^nothing answers there: start Postgres, or correct host and port/);
  });

  test("a folder without a socket", async () => {
    expect(await errorOf("postgres:///m?host=/nonexistent")).toMatchObject({
      sqlstate: "ENOENT",
      message: "Cannot reach Postgres at /nonexistent/.s.PGSQL.5432",
      hint: expect.stringMatching(/^there is no such socket: /),
    });
  });

  test("a host that nobody knows", async () => {
    const { message, sqlstate, hint } = await errorOf("postgres://no-such-host.invalid/m");
    expect(sqlstate).toMatch(/ENOTFOUND|EAI_AGAIN/);
    expect(message).toBe("Cannot reach Postgres at no-such-host.invalid");
    expect(hint).toMatch(/^the host (is unknown|name could not be resolved): /);
  });

  test.each([
    ["::1", "[::1]:1"],
    ["127.0.0.1", "127.0.0.1:1"],
  ])("the address %s is shown with its port as %s", (address, shown) => {
    const refused = coded("ECONNREFUSED", { address, port: 1 });
    expect(toStoreError(refused, "anything")).toMatchObject({ message: `Cannot reach Postgres at ${shown}` });
  });

  test("a password that is wrong, or a role that is not there", async () => {
    const url = changed({ username: "docmirror_test_nobody_here", password: "hunter2" });
    const { message, hint } = await errorOf(url);
    expect(message).toMatch(/^Postgres (refuses the user or the password|does not accept this role): /);
    expect(message).toMatch(/docmirror_test_nobody_here/);
    expect(`${message} ${hint}`).not.toContain("hunter2");
  });

  test("a file that is missing is no database", () => {
    const error = toStoreError(coded("ENOENT", { path: "/x" }), "read /x");
    expect(error).toMatchObject({ message: expect.stringMatching(/^could not read/) });
  });

  const asNobody = `create role docmirror_test_temp nologin; set local role docmirror_test_temp`;
  const revoked = `do $$ begin execute format('revoke temporary on database %I from public', current_database()); end $$`;
  test.each([
    ["a zone that the server lacks", "select now() at time zone 'Mars/Phobos'", /DOCMIRROR_SOURCE_TIMEZONE/],
    ["no temporary tables", `${revoked}; ${asNobody}; create temporary table t ()`, /grant temporary on/],
    [
      "a write to a read-only server",
      "set local transaction_read_only = on; create table t ()",
      /disk is nearly full/,
    ],
  ])("%s has a hint that leads to the cause", async (_, statements, hint) => {
    const failed = sql.begin((own) => own.unsafe(statements));
    const error = await failed.catch((caught: unknown) => toStoreError(caught, "try"));
    expect(error).toMatchObject({ hint: expect.stringMatching(hint) });
  });

  test("a session that idled too long in a transaction names the setting", async () => {
    const failed = withTransaction(sql, async (own) => {
      const [session] = await own<{ pid: number }[]>`
        select pg_backend_pid() as pid, set_config('idle_in_transaction_session_timeout', '10', true)`;
      const left = () => sql`select from pg_stat_activity where pid = ${session?.pid ?? 0}`;
      await expect.poll(async () => (await left()).length).toBe(0);
      await own`select 1`;
    });
    const error = await failed.catch((caught: unknown) => toStoreError(caught, "read"));
    expect(error).toMatchObject({ hint: expect.stringContaining("idle_in_transaction_session_timeout") });
  });

  test("shared memory that is too small is no full disk", () => {
    const words =
      'could not resize shared memory segment "/PostgreSQL.1" to 8 bytes: No space left on device';
    const error = toStoreError(Object.assign(new Error(words), { code: "53100" }), "read");
    expect(error).toMatchObject({ hint: expect.stringContaining("/dev/shm") });
  });

  test.each([
    ["XX000", 'could not write init file "base/5/pg_internal.init"', /free space/],
    ["58030", 'could not extend file "base/5/1": No space left on device', /free space/],
    ["23505", 'duplicate key value violates unique constraint "runs_pkey"', /sequence is behind/],
  ])("%s: %s has a hint that leads to the cause", (code, words, hint) => {
    const error = toStoreError(Object.assign(new Error(words), { code }), "begin a run");
    expect(error).toMatchObject({ sqlstate: code, hint: expect.stringMatching(hint) });
  });

  test("the code is found on the cause, where drizzle puts it", () => {
    const wrapped = new Error("Failed query", { cause: coded("53100") });
    expect(toStoreError(wrapped, "store a page")).toMatchObject({
      message: "could not store a page: x (53100)",
      hint: expect.stringContaining("free space"),
    });
  });

  test("a bug, which has no code, and a StoreError stay as they are", () => {
    for (const error of [new TypeError("x is undefined"), new StoreError("told already")])
      expect(toStoreError(error, "anything")).toBe(error);
  });
});

describe("isPassing", () => {
  test.each([
    ...["57P01", "57P03", "08006", "40001", "40P01", "53300", "55P03"],
    ...["ECONNRESET", "CONNECTION_CLOSED"],
  ])("%s may pass", (code) => {
    expect(isPassing(coded(code))).toBe(true);
    expect(isPassing(toStoreError(coded(code), "try"))).toBe(true);
  });

  test.each(["28P01", "3D000", "42501", "23505", "53100", "ENOTFOUND"])("%s stays", (code) => {
    expect(isPassing(coded(code))).toBe(false);
  });

  test("a session that was ended at the server may pass", async () => {
    const error = await sql`select pg_terminate_backend(pg_backend_pid())`.catch((caught: unknown) => caught);
    expect(sqlstateOf(error)).toBe("CONNECTION_CLOSED");
    const message = expect.stringMatching(/closed the connection: terminating .* \(57P01\)/);
    expect(toStoreError(error, "read")).toMatchObject({ message });
    expect(isPassing(error)).toBe(true);
    expect(await sql`select 1 as one`, "by a new one").toEqual([{ one: 1 }]);
  });
});

describe("isAway", () => {
  test.each([
    ...["57P01", "ENOTFOUND", "28P01", "25006", "53100", "57014", "58030", "CERT_HAS_EXPIRED", "EPROTO"],
    ...["DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"],
    "ERR_TLS_CERT_ALTNAME_INVALID",
  ])("%s is waited out by a process that has worked", (code) => {
    expect(isAway(coded(code))).toBe(true);
  });

  test("a fault of a statement is not, and no bug", () => {
    const codes = ["23505", "22P02", "42P01", "42601", "ERR_INVALID_ARG_TYPE"];
    const errors = [...codes.map((code) => coded(code)), new TypeError("x is undefined")];
    expect(errors.filter(isAway)).toEqual([]);
  });
});
