import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { replaceDatabase, withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";

export interface TestDatabase extends AsyncDisposable {
  url: string;
  /** Drops it, even while clients are connected. May be called twice. */
  dispose(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** false: an empty database without any schema of ours. @default true */
  migrated?: boolean;
  /** The URL of another test database, to which nobody is connected: the new one begins with what it holds. */
  copyOf?: string;
}

/** A fresh database of its own on the server that the global setup chose. */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { adminUrl, template, strategy } = inject("databaseServer");
  const name = `docmirror_test_${randomBytes(6).toString("hex")}`;
  const empty = options.migrated === false ? "template0" : template;
  const source = options.copyOf === undefined ? empty : new URL(options.copyOf).pathname.slice(1);
  await withSql(adminUrl, { applicationName: "docmirror test", max: 1 }, (sql) =>
    sql.unsafe(`create database ${name} template ${source} ${strategy}`),
  );
  let dropped: Promise<void> | undefined;
  const dispose = () => {
    dropped ??= withSql(adminUrl, { applicationName: "docmirror test", max: 1 }, async (sql) => {
      await sql.unsafe(`drop database if exists ${name} with (force)`);
    });
    return dropped;
  };
  return { url: replaceDatabase(adminUrl, name), dispose, [Symbol.asyncDispose]: dispose };
}

/** How many sessions wait for an advisory lock of this database. Other tests wait for locks in databases of their own. */
export async function countAdvisoryWaits(sql: Sql): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*) as waiting from pg_locks join pg_database on pg_database.oid = database
    where locktype = 'advisory' and not granted and datname = current_database()`;
  return row?.waiting ?? 0;
}
