import { EXIT } from "../../base/errors.ts";
import type { Sql } from "../../store/connection/connect.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import type { OpenDatabase } from "../../store/embedded/open-database.ts";
import { readDemoMark } from "../../store/ledger/demo-mark.ts";
import { assertServerUsable } from "../../store/migrate/migrate.ts";
import { fault, ok, type Result } from "./finding.ts";

/**
 * Whether the server answers, is new enough, uses UTF-8 and accepts writes, and does not hold a demo's
 * mirror.
 */
export async function checkDatabase(sql: Sql, database: OpenDatabase, baseUrl: URL | null): Promise<Result> {
  const server = await assertServerUsable(sql);
  if (server.isReadOnly) {
    return fault(
      `${database.describe} accepts no writes: it is a standby, or sessions of ${server.user} are read-only`,
      "name the primary in DATABASE_URL, or check default_transaction_read_only of the role and the database",
      EXIT.database,
    );
  }
  const demo = await withStoreErrors("read whose mirror the database holds", () => readDemoMark(sql));
  if (demo !== null && baseUrl !== null && new URL(demo).href !== baseUrl.href) {
    return fault(
      `${database.describe} holds the mirror that \`docmirror demo\` made, and the next demo will wipe it`,
      "use another folder for the real mirror, such as --data-dir .docmirror-real, or set DATABASE_URL",
      EXIT.usage,
    );
  }
  const which = database.embedded === null ? "" : "the embedded ";
  return ok(`${which}Postgres ${server.version} in UTF-8, ${database.describe}`);
}
