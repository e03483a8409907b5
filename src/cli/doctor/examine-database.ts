import { type Sql, withSql } from "../../db/connect.ts";
import { measureServerClock } from "../../db/server-clock.ts";
import { assertSessionPooling } from "../../db/session-pooling.ts";
import { withStoreErrors } from "../../db/store-errors.ts";
import type { OpenDatabase } from "../../embedded/open-database.ts";
import { isMirrorAbsent, type MirrorSettings, mirrorPlace } from "../mirror-place.ts";
import type { CommandContext } from "../run-command.ts";
import { withDatabase } from "../with-database.ts";
import { checkClock } from "./check-clock.ts";
import { checkDatabase } from "./check-database.ts";
import { checkFreshness } from "./check-freshness.ts";
import { checkMigrations } from "./check-migrations.ts";
import { checkMirror } from "./check-mirror.ts";
import { checkRights } from "./check-rights.ts";
import { checkSourceZone } from "./check-source-zone.ts";
import { type Finding, findingOf, type Result, unknown, unknowns } from "./finding.ts";

/** In this order. The last one leans on all before it. */
export const DATABASE_CHECKS = [
  "database",
  "rights",
  "migrations",
  "database clock",
  "mirror",
  "freshness",
  "time zone",
] as const;

/** Statements of a doctor wait no longer: a lock that somebody holds is worth a finding. */
const STATEMENT_TIMEOUT = "60s";

/** Makes the checks of the database. An embedded one that is there is started; none is made. */
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
        // No statement is waited for any more; what it then throws gives way to the signal's reason.
        signal.addEventListener("abort", () => void sql.end({ timeout: 0 }), { once: true });
        // First of all, because a setting of ours would reach the other clients of such a pooler.
        await withStoreErrors("connect to the database", () => assertSessionPooling(sql, database.url));
        await sql.unsafe(`set statement_timeout = '${STATEMENT_TIMEOUT}'`);
        const result = await checkDatabase(sql, database, config.baseUrl);
        // A promise that the server keeps, too.
        await sql`set default_transaction_read_only = on`;
        findings = await examineContent(sql, database, context);
        return result;
      });
    });
  });
  if (findings.length === 0) findings = unknowns(others, why);
  return [opened, ...findings];
}

/** No fault: before the first sync all is well so. */
function noMirror(config: MirrorSettings): Result {
  return unknown(`There is no mirror in ${mirrorPlace(config)} yet`, "`docmirror sync` makes one");
}

async function examineContent(
  sql: Sql,
  database: OpenDatabase,
  { config, clock, signal }: CommandContext,
): Promise<Finding[]> {
  const rights = await findingOf("rights", signal, () => checkRights(sql));
  const migrations = await findingOf("migrations", signal, () =>
    checkMigrations(sql, database.embedded !== null, noMirror(config)),
  );
  const clocks = await findingOf("database clock", signal, async () =>
    checkClock(
      "the database server's",
      await measureServerClock(sql, clock),
      "when a run lived last, and what `now()` in your own queries gives, is by that clock",
    ),
  );
  /** A check of what is in the tables, which must be there. */
  const contentCheck = (check: string, examine: () => Promise<Result>) =>
    findingOf(check, signal, (): Result | Promise<Result> =>
      migrations.status === "ok" ? examine() : unknown("there is nothing to test it by: see migrations"),
    );
  const now = clock.now();
  const mirror = await contentCheck("mirror", () => checkMirror(sql, config.baseUrl));
  const freshness = await contentCheck("freshness", () => checkFreshness(sql, now));
  const zone = await contentCheck("time zone", () => checkSourceZone(sql, config.sourceTimezone, now));
  return [rights, migrations, clocks, mirror, freshness, zone];
}
