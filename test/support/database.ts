import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { connect, replaceDatabase, withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";

const AS_TEST = { applicationName: "docmirror test", max: 1 };

/** A connection of the test's own to any database, for as long as `fn` takes. */
export const withTestSql = <T>(url: string, fn: (sql: Sql) => Promise<T>): Promise<T> =>
  withSql(url, AS_TEST, fn);

export interface TestDatabase extends AsyncDisposable {
  url: string;
  /** A connection as the owner, opened when it is used first; `max` says how many. It ends with the database. */
  readonly sql: Sql;
  /** Drops it, even while clients are connected. May be called twice. */
  dispose(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** false: an empty database without any schema of ours. @default true */
  migrated?: boolean;
  /** The URL of another test database, to which nobody is connected: the new one begins with what it holds. */
  copyOf?: string;
  /** @default 1 */
  max?: number;
}

/** A fresh database of its own on the server that the global setup chose. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { adminUrl, template, strategy } = inject("databaseServer");
  const name = `docmirror_test_${randomBytes(6).toString("hex")}`;
  const empty = options.migrated === false ? "template0" : template;
  const source = options.copyOf === undefined ? empty : new URL(options.copyOf).pathname.slice(1);
  const asAdmin = (statement: string) =>
    withTestSql(adminUrl, async (sql) => void (await sql.unsafe(statement)));
  await asAdmin(`create database ${name} template ${source} ${strategy}`);
  const url = replaceDatabase(adminUrl, name);
  let sql: Sql | undefined;
  let dropped: Promise<void> | undefined;
  const drop = async () => {
    await sql?.end({ timeout: 5 });
    await asAdmin(`drop database if exists ${name} with (force)`);
  };
  const dispose = () => {
    dropped ??= drop();
    return dropped;
  };
  return {
    url,
    get sql() {
      sql ??= connect(url, { ...AS_TEST, max: options.max ?? 1 });
      return sql;
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** The URL of a database that is not on the server. */
export const absentDatabase = () =>
  replaceDatabase(inject("databaseServer").adminUrl, "docmirror_is_not_here");

/** How many sessions wait for an advisory lock of this database. Other tests wait for locks in databases of their own. */
export async function countAdvisoryWaits(sql: Sql): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*) as waiting from pg_locks join pg_database on pg_database.oid = database
    where locktype = 'advisory' and not granted and datname = current_database()`;
  return row?.waiting ?? 0;
}
