import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { withSql } from "../../src/store/connection/connect.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { FIRST_RELEASE } from "./stored-files.ts";

/** What the first release's migration left out, too, on a server that was built without lz4. */
const WITH_LZ4 = /^ALTER TABLE .* SET COMPRESSION lz4;$/gm;

/** A database of its own with the mirror that the first release left. */
export async function restoreFirstRelease(): Promise<TestDatabase> {
  const database = await createTestDatabase({ migrated: false });
  const statements = gunzipSync(readFileSync(FIRST_RELEASE)).toString();
  await withSql(database.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
    const [server] = await sql<{ hasLz4: boolean }[]>`
      select 'lz4' = any (enumvals) as "hasLz4" from pg_settings where name = 'default_toast_compression'`;
    await sql.unsafe(server?.hasLz4 ? statements : statements.replace(WITH_LZ4, "")).simple();
  });
  return database;
}
