import { withSql } from "../../store/connection/connect.ts";
import { measureServerClock } from "../../store/connection/server-clock.ts";
import { assertSessionPooling } from "../../store/connection/session-pooling.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import type { OpenDatabase } from "../../store/embedded/open-database.ts";
import { isMirrorAbsent, type MirrorSettings, mirrorPlace } from "../context/mirror-place.ts";
import type { CommandContext } from "../context/run-command.ts";
import { withDatabase } from "../context/with-database.ts";
import { checkClock } from "./check-clock.ts";
import { checkSourceZone } from "./check-source-zone.ts";
import {
  checkDatabase,
  checkFreshness,
  checkMigrations,
  checkMirror,
  checkRights,
} from "./database-checks.ts";
import { type Finding, findingOf, type Result, unknown, unknowns } from "./finding.ts";

/** In this order: the last one depends on all before it. */
export const DATABASE_CHECKS = [
  "database",
  "rights",
  "migrations",
  "database clock",
  "mirror",
  "freshness",
  "time zone",
] as const;

/** No statement waits longer: a lock that another session holds becomes a finding. */
const STATEMENT_TIMEOUT = "60s";

/** Makes the checks of the database. Starts an embedded one that exists, but never makes one. */
export async function examineDatabase(context: CommandContext): Promise<Finding[]> {
  const { config, signal } = context;
  const [first, ...others] = DATABASE_CHECKS;
  let findings: Finding[] = [];
  let why = "there is no database to ask";
  const opened = await findingOf(first, signal, () => {
    if (isMirrorAbsent(config)) {
      why = "there is no mirror yet";
      return noMirror(config);
    }
    return withDatabase(context, async (database) => {
      return await withSql(database.url, { applicationName: "docmirror doctor", max: 1 }, async (sql) => {
        // Ends a running statement. Its error is replaced by the signal's reason.
        signal.addEventListener("abort", () => void sql.end({ timeout: 0 }), { once: true });
        // This comes first: with such a pooler, our settings would reach its other clients.
        await withStoreErrors("connect to the database", () => assertSessionPooling(sql, database.url));
        await sql`select set_config('statement_timeout', ${STATEMENT_TIMEOUT}, false)`;
        const result = await checkDatabase(sql, database, config.baseUrl);
        // From here on the server itself refuses any change.
        await sql`set default_transaction_read_only = on`;
        findings = await examineContent(sql, database, context);
        return result;
      });
    });
  });
  if (findings.length === 0) findings = unknowns(others, why);
  return [opened, ...findings];
}

/** Not a fault: this is normal before the first sync. */
function noMirror(config: MirrorSettings): Result {
  return unknown(`There is no mirror in ${mirrorPlace(config)} yet`, "`docmirror sync` makes one");
}

async function examineContent(sql: Sql, database: OpenDatabase, { config, clock, signal }: CommandContext) {
  const rights = await findingOf("rights", signal, () => checkRights(sql));
  const migrations = await findingOf("migrations", signal, () =>
    checkMigrations(sql, database.embedded !== null, noMirror(config)),
  );
  const clocks = await findingOf("database clock", signal, async () => {
    const meaning = "the heartbeats of runs, and `now()` in your own queries, use that clock";
    return checkClock("the database server's", await measureServerClock(sql, clock), meaning);
  });
  /** A check of the tables' content; it needs the tables. */
  const contentCheck = (check: string, examine: () => Promise<Result>) =>
    findingOf(check, signal, () => {
      return migrations.status === "ok" ? examine() : unknown("not tested: see migrations");
    });
  const now = clock.now();
  const mirror = await contentCheck("mirror", () => checkMirror(sql, config.baseUrl));
  const freshness = await contentCheck("freshness", () => checkFreshness(sql, now));
  const zone = await contentCheck("time zone", () => checkSourceZone(sql, config.sourceTimezone, now));
  return [rights, migrations, clocks, mirror, freshness, zone];
}
