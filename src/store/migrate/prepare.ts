import { SchemaVersionError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Sql } from "../connection/sql.ts";
import { withStoreErrors } from "../connection/store-errors.ts";
import type { Definitions } from "./definitions.ts";
import { assertUsable, isUnmade, type MigrationStatus, migrate, migrationStatus } from "./migrate.ts";

export interface PreparedDatabase {
  url: string;
  /** The URL with its password masked, for messages. */
  describe: string;
  /** Set when it is the embedded database. */
  embedded: object | null;
}

/** The logs that have this warning already. A worker prepares its database each minute. */
const warned = { ofLater: new WeakSet<Logger>(), ofRights: new WeakSet<Logger>() };

/**
 * Makes a database, to which `sql` leads, ready for writes. A database without our schema gets it, and the embedded database is always migrated,
 * because only docmirror uses it. An older schema in a database of the user is left to `docmirror migrate`: the user decides. A
 * newer one that this program may use stays as it is; a warning says so once. Throws `SchemaVersionError` or `StoreError`.
 */
export async function prepareDatabase(
  database: PreparedDatabase,
  sql: Sql,
  definitions: Definitions,
  log: Logger,
  signal?: AbortSignal,
): Promise<void> {
  const status = await withStoreErrors("connect to the database", () => migrationStatus(sql, definitions));
  const isNew = isUnmade(status);
  if (status.state === "older" && (isNew || database.embedded)) {
    const { applied, redefined } = await migrate(database.url, definitions, { log, signal });
    const facts = { database: database.describe };
    warnOfTemporaryTables(status, log);
    if (isNew) log.info(facts, "schema made");
    else if (applied.length > 0 || redefined.length > 0)
      log.info({ ...facts, applied, redefined: redefined.length }, "schema brought up to date");
    return;
  }
  const { state, unknown, outdated } = assertUsable(status);
  warnOfTemporaryTables(status, log);
  if (state === "newer" && !warned.ofLater.has(log)) {
    warned.ofLater.add(log);
    log.warn(
      { unknown, reports_left: outdated.length > 0, hint: "upgrade docmirror here too" },
      "a later version has migrated this database; this program goes on, leaves reports that it does not know to that version, and writes no backups",
    );
  }
}

/** The first refresh does without, so nobody would know of it before the second one fails. */
function warnOfTemporaryTables({ temporaryGrant: grant }: MigrationStatus, log: Logger): void {
  if (grant === null || warned.ofRights.has(log)) return;
  warned.ofRights.add(log);
  log.warn(
    { hint: `run \`${grant}\` as the owner of the database` },
    "this role may not make temporary tables, so the reports cannot be refreshed",
  );
}

/**
 * For commands that only read. Throws SchemaVersionError unless this program may use the database. If the
 * database has no schema of docmirror, the error says that `place` has no mirror yet.
 */
export async function assertMirror(sql: Sql, definitions: Definitions, place: string): Promise<void> {
  const status = await migrationStatus(sql, definitions);
  if (isUnmade(status)) throw noMirrorError(place);
  assertUsable(status);
}

/** The error for a place without a mirror. `place` is "./.docmirror" or "the database postgres://…". */
export function noMirrorError(place: string): SchemaVersionError {
  return new SchemaVersionError(`There is no mirror in ${place} yet; \`docmirror sync\` makes one`, {
    hint: "if there should be one, see DATABASE_URL, DOCMIRROR_DATA_DIR and the working directory: `docmirror config` shows them",
  });
}
