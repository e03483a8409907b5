import { withSql } from "../../store/connection/connect.ts";
import { repeatAfterConflict } from "../../store/connection/recovery-conflict.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { assertMirrorPlace } from "./mirror-place.ts";
import { refreshForReplica } from "./refresh-for-replica.ts";
import { refreshIfBehind } from "./refresh-if-behind.ts";
import { readSession, readSettings, withReplicaHints } from "./replica.ts";
import type { CommandContext } from "./run-command.ts";
import { withDatabase } from "./with-database.ts";

/**
 * Opens the database that reports are read from, the replica where one is named, and has answers refreshed
 * that are older than the last run. `sql` has one connection. Throws SchemaVersionError where there is no
 * mirror, and StoreError.
 */
export function withReports<T>(
  context: CommandContext,
  command: string,
  read: (sql: Sql) => Promise<T>,
): Promise<T> {
  const place = { ...context, config: readSettings(context.config) };
  return withReplicaHints(context.config, async () => {
    assertMirrorPlace(place.config);
    return withDatabase(place, ({ url }) => {
      const options = {
        applicationName: `docmirror ${command}`,
        max: 1,
        session: readSession(context.config),
      };
      return withSql(url, options, async (sql) => {
        if (context.config.readUrl === null) await refreshIfBehind(context, url, sql);
        else await repeatAfterConflict(() => refreshForReplica(context, sql));
        return read(sql);
      });
    });
  });
}
