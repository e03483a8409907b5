import type { Sql } from "../../db/connect.ts";
import { readDemoMark } from "../../db/demo-mark.ts";
import { assertServerUsable } from "../../db/migrate.ts";
import { withStoreErrors } from "../../db/store-errors.ts";
import type { OpenDatabase } from "../../embedded/open-database.ts";
import { EXIT } from "../../errors.ts";
import { fault, ok, type Result } from "./finding.ts";

/** Whether the server answers, is new enough, holds UTF-8 and takes writes, and whether the mirror in it is of this service. */
export async function checkDatabase(sql: Sql, database: OpenDatabase, baseUrl: URL | null): Promise<Result> {
  const server = await assertServerUsable(sql);
  if (server.isReadOnly) {
    return fault(
      `${database.describe} takes no writes: it is a standby, or sessions of ${server.user} are read-only`,
      "name the primary in DATABASE_URL, or look for default_transaction_read_only at the role and the database",
      EXIT.database,
    );
  }
  const demo = await withStoreErrors("read whose mirror the database holds", () => readDemoMark(sql));
  if (demo !== null && baseUrl !== null && new URL(demo).href !== baseUrl.href) {
    return fault(
      `${database.describe} holds the mirror that \`docmirror demo\` made, and the next demo will wipe it`,
      "name a folder of its own for the real mirror, as in --data-dir .docmirror-real, or set DATABASE_URL",
      EXIT.usage,
    );
  }
  const which = database.embedded === null ? "" : "the embedded ";
  return ok(`${which}Postgres ${server.version} in UTF-8, ${database.describe}`);
}
