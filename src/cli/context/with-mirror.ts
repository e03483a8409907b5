import { readDefinitions } from "../../report/definitions.ts";
import { withSql } from "../../store/connection/connect.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import type { OpenDatabase } from "../../store/embedded/open-database.ts";
import { assertMirror } from "../../store/migrate/assert-mirror.ts";
import { assertMirrorPlace, mirrorPlace } from "./mirror-place.ts";
import type { CommandContext } from "./run-command.ts";
import { withDatabase } from "./with-database.ts";

/**
 * Opens the mirror that the settings name for a command that works on it; never makes one. `sql` has one connection.
 * Throws SchemaVersionError where there is no mirror, or one of another version, and StoreError for errors of the
 * database.
 */
export async function withMirror<T>(
  context: CommandContext,
  command: string,
  fn: (sql: Sql, database: OpenDatabase) => Promise<T>,
): Promise<T> {
  assertMirrorPlace(context.config);
  return withDatabase(context, (database) =>
    withSql(database.url, { applicationName: `docmirror ${command}`, max: 1 }, async (sql) => {
      await assertMirror(sql, readDefinitions(), mirrorPlace(context.config));
      return withStoreErrors(`read the mirror for \`docmirror ${command}\``, () => fn(sql, database));
    }),
  );
}
