import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type Sql, withSql } from "../../src/db/connect.ts";
import { isPassing, sqlstateOf, toStoreError } from "../../src/db/store-errors.ts";
import { StoreError } from "../../src/errors.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  sql = connect(database.url, { applicationName: "docmirror test" });
});
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await database?.dispose();
});

async function errorOf(url: string, statement = "select 1"): Promise<StoreError> {
  try {
    await withSql(url, { applicationName: "t", connectTimeoutSeconds: 2 }, (own) => own.unsafe(statement));
  } catch (error) {
    const translated = toStoreError(error, "read the checkpoint");
    if (translated instanceof StoreError) return translated;
    throw error;
  }
  throw new Error("no error came");
}

function changed(change: (url: URL) => unknown): string {
  const url = new URL(database.url);
  change(url);
  return url.href;
}

describe("toStoreError", () => {
  test("a database that does not exist is named, with the way to make it", async () => {
    const error = await errorOf(changed((url) => Object.assign(url, { pathname: "/no_such_database" })));
    expect(error).toMatchObject({ sqlstate: "3D000", exitCode: 4 });
    expect(error.message).toMatch(/^could not read the checkpoint: .*no_such_database.*\(3D000\)$/);
    expect(error.hint).toMatch(/createdb/);
  });

  test("a port on which nothing listens", async () => {
    const error = await errorOf("postgres://127.0.0.1:1/m");
    expect(error).toMatchObject({ sqlstate: "ECONNREFUSED" });
    expect(error.message).toMatch("127.0.0.1:1: nothing answers there");
  });

  test("a folder without a socket", async () => {
    expect(await errorOf("postgres:///m?host=/nonexistent")).toMatchObject({ sqlstate: "ENOENT" });
  });

  test("a host that nobody knows", async () => {
    expect((await errorOf("postgres://no-such-host.invalid/m")).sqlstate).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });

  test("a role without a right", async () => {
    await sql.unsafe("create schema closed; create table closed.t ()");
    await sql.unsafe("create role docmirror_test_nobody nologin").catch(() => {});
    const error = await sql
      .begin(async (own) => {
        await own`set local role docmirror_test_nobody`;
        await own`select from closed.t`;
      })
      .catch((caught: unknown) => toStoreError(caught, "read t"));
    expect(error).toMatchObject({ sqlstate: "42501" });
  });

  test("the code is found on the cause, where drizzle puts it", () => {
    const wrapped = new Error("Failed query", {
      cause: Object.assign(new Error("disk full"), { code: "53100" }),
    });
    expect(toStoreError(wrapped, "store a page")).toMatchObject({
      message: "could not store a page: disk full (53100)",
      hint: expect.stringContaining("room"),
    });
  });

  test("an error without a code is a bug and stays as it is", () => {
    const bug = new TypeError("x is undefined");
    expect(toStoreError(bug, "anything")).toBe(bug);
  });

  test("a StoreError is not wrapped again", () => {
    const error = new StoreError("told already");
    expect(toStoreError(error, "anything")).toBe(error);
  });

  test("no password is in what it says", async () => {
    const error = await errorOf(
      changed((url) => Object.assign(url, { password: "hunter2", pathname: "/no_such" })),
    );
    expect(`${error.message} ${error.hint}`).not.toMatch("hunter2");
  });
});

describe("isPassing", () => {
  test.each([
    "57P01",
    "57P03",
    "08006",
    "40001",
    "40P01",
    "53300",
    "55P03",
    "ECONNRESET",
    "CONNECTION_CLOSED",
  ])("%s may pass", (code) => {
    expect(isPassing(Object.assign(new Error("x"), { code }))).toBe(true);
    expect(isPassing(toStoreError(Object.assign(new Error("x"), { code }), "try"))).toBe(true);
  });

  test.each(["28P01", "3D000", "42501", "23505", "53100", "ENOTFOUND"])("%s stays", (code) => {
    expect(isPassing(Object.assign(new Error("x"), { code }))).toBe(false);
  });

  test("a session that was ended at the server may pass", async () => {
    const error = await sql`select pg_terminate_backend(pg_backend_pid())`.catch((caught: unknown) => caught);
    expect(sqlstateOf(error)).toBe("CONNECTION_CLOSED");
    expect(isPassing(error)).toBe(true);
  });
});
