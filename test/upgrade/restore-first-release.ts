import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { withSql } from "../../src/db/connect.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { FIRST_RELEASE } from "./stored-files.ts";

/** A database of its own with the mirror that the first release left. */
export async function restoreFirstRelease(): Promise<TestDatabase> {
  const database = await createTestDatabase({ migrated: false });
  const statements = gunzipSync(readFileSync(FIRST_RELEASE)).toString();
  await withSql(database.url, { applicationName: "docmirror test", max: 1 }, (sql) =>
    sql.unsafe(statements).simple(),
  );
  return database;
}
