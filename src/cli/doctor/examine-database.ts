import { ageMs, isAhead } from "../../base/clock.ts";
import type { Config } from "../../base/config.ts";
import { EXIT } from "../../base/errors.ts";
import { grouped } from "../../base/text.ts";
import { formatSpan } from "../../mirror/builds/format-span.ts";
import { describeHeld } from "../../mirror/lists/missing-records.ts";
import { countPrunable, ROUNDS_KEPT_MS } from "../../mirror/run/prune.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { HOW_IT_GOES_ON } from "../../report/refresh/failed-refresh.ts";
import { describeRefreshing, REPORTS_LATE_MS } from "../../report/refresh/refresh.ts";
import { describeJob, findStatus, type MirrorStatus } from "../../report/status/find-status.ts";
import { describeSizes } from "../../report/status/sizes.ts";
import { assertBackupFolder } from "../../store/backup/backup-folder.ts";
import { findCertificateEnd, withSql } from "../../store/connection/connect.ts";
import { measureServerClock } from "../../store/connection/server-clock.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { assertCreatable, type OpenDatabase } from "../../store/embedded/open-embedded.ts";
import { describeDenied, findSuspects } from "../../store/ledger/checks.ts";
import { describeDatesInChange } from "../../store/ledger/list-freshness.ts";
import { assertService, findService, readDemoMark } from "../../store/ledger/mirrored-service.ts";
import { describeCountGap } from "../../store/ledger/run-ledger.ts";
import { describeUnsteady, findUnsteady } from "../../store/ledger/unsteady-fields.ts";
import {
  assertServerUsable,
  assertUsable,
  isUnmade,
  migrationStatus,
  whatIsMissing,
} from "../../store/migrate/migrate.ts";
import { findHidingTables, findLackingRights, findOpenToAll, SHOW_ROWS } from "../../store/migrate/rights.ts";
import { findSequenceRepairs } from "../../store/migrate/sequences.ts";
import type { CommandContext } from "../context/run-command.ts";
import { isMirrorAbsent, type MirrorSettings, mirrorPlace, withDatabase } from "../context/with-mirror.ts";
import { checkSourceZone } from "./check-source-zone.ts";
import {
  checkCertificate,
  checkClock,
  type Finding,
  fault,
  findingOf,
  listed,
  ok,
  type Result,
  unknown,
  unknowns,
  warning,
} from "./finding.ts";

/** An open database, as its checks look at it. */
interface Examined extends Pick<CommandContext, "config" | "clock"> {
  sql: Sql;
  database: OpenDatabase;
  /** The state of the mirror, as `docmirror status` has it. It is read once. */
  status(): Promise<MirrorStatus>;
  now: Date;
}

/** They are made in the order in which they stand. */
type Checks = Readonly<Record<string, (examined: Examined) => Promise<Result>>>;

const SERVER_CHECKS: Checks = {
  rights: ({ sql }) => checkRights(sql),
  migrations: ({ sql, database, config }) =>
    checkMigrations(sql, database.embedded !== null, noMirror(config)),
  async "database clock"({ sql, clock }) {
    const meaning = "the heartbeats of runs, and `now()` in your own queries, use that clock";
    return checkClock("the database server's", await measureServerClock(sql, clock), meaning);
  },
};

/** They need the tables of this program. The last one depends on all before it. */
const TABLE_CHECKS: Checks = {
  mirror: ({ sql, config }) => checkMirror(sql, config.baseUrl),
  freshness: checkFreshness,
  backups: checkBackups,
  size: checkSize,
  "time zone": ({ sql, config, now }) => checkSourceZone(sql, config.sourceTimezone, now),
};

const CHECKS = Object.entries({ ...SERVER_CHECKS, ...TABLE_CHECKS });

/** The first one is whether the database can be opened at all. */
export const DATABASE_CHECKS = ["database", ...CHECKS.map(([check]) => check)];

/** Makes the checks of the database. Starts an embedded one that exists, but never makes one. */
export async function examineDatabase(context: CommandContext): Promise<Finding[]> {
  const { config, clock, signal } = context;
  let findings: Finding[] = [];
  let why = "there is no database to ask";
  const opened = await findingOf("database", signal, async () => {
    if (isMirrorAbsent(config)) {
      why = "there is no mirror yet";
      await assertCreatable(config.dataDir);
      return noMirror(config);
    }
    return withDatabase(context, async (database) => {
      const examine = <T>(settings: Record<string, string>, fn: (sql: Sql) => Promise<T>) => {
        // A lock that another session holds becomes a finding.
        const session = { statement_timeout: "60s", ...settings };
        const connection = { applicationName: "docmirror doctor", max: 1, log: context.log, session };
        return withSql(database.url, connection, (sql) => {
          // Ends a running statement. Its error is replaced by the signal's reason.
          signal.addEventListener("abort", () => void sql.end({ timeout: 0 }), { once: true });
          return fn(sql);
        });
      };
      const result = await examine({}, (sql) => checkDatabase(sql, database, config, clock.now()));
      // From here on the server itself refuses any change.
      const readOnly = { default_transaction_read_only: "on" };
      findings = await examine(readOnly, (sql) => examineContent(sql, database, context));
      return result;
    });
  });
  return [opened, ...(findings.length > 0 ? findings : unknowns(DATABASE_CHECKS.slice(1), why))];
}

/** Not a fault: this is normal before the first sync. */
function noMirror(config: MirrorSettings): Result {
  return unknown(`There is no mirror in ${mirrorPlace(config)} yet`, "`docmirror sync` makes one");
}

async function examineContent(sql: Sql, database: OpenDatabase, { config, clock, signal }: CommandContext) {
  const now = clock.now();
  let found: Promise<MirrorStatus> | undefined;
  const status = () => {
    found ??= findStatus(sql, config, now);
    return found;
  };
  const examined = { sql, database, status, config, clock, now };
  const findings = new Map<string, Finding>();
  for (const [check, examine] of CHECKS) {
    const isLeftOut = check in TABLE_CHECKS && findings.get("migrations")?.status !== "ok";
    const make = () => (isLeftOut ? unknown("not tested: see migrations") : examine(examined));
    findings.set(check, await findingOf(check, signal, make));
  }
  return [...findings.values()];
}

/** Its packages bring libraries of their own; on Linux they are of 2018, and there are no newer packages. */
const MEANT_FOR =
  "It is for trying out, and for small mirrors on this machine: its libraries get no repairs. For more, DATABASE_URL names a server of your own";
/** The missing rights that are named at most. */
const MAX_RIGHTS = 3;
/** A backup each week is enough for some. */
const BACKUP_WITHIN_MS = 8 * 24 * 3_600_000;
/** The alert begins there too. */
const DAYS_OF_ROOM = 30;
/** A worker may rest for a month. */
const UNPRUNED_MS = 30 * 86_400_000;
/** The newest runs that are checked. */
const RUNS = 1000;

/** Checks that the server answers, is new enough, uses UTF-8, accepts writes, and holds no demo's mirror. */
async function checkDatabase(
  sql: Sql,
  database: OpenDatabase,
  { baseUrl }: Config,
  now: Date,
): Promise<Result> {
  const server = await assertServerUsable(sql);
  await withStoreErrors("begin a transaction", () => sql.begin((tx) => tx`select 1`));
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
  const ending = checkCertificate("the database server's", findCertificateEnd(sql), now);
  if (ending) return ending;
  const answers = `Postgres ${server.version} in UTF-8, ${database.describe}`;
  return ok(database.embedded === null ? answers : `the embedded ${answers}. ${MEANT_FOR}`);
}

/** Checks that the role may do what docmirror does. */
async function checkRights(sql: Sql): Promise<Result> {
  const hiding = await withStoreErrors("read which rows the role sees", () => findHidingTables(sql));
  if (hiding.length > 0) {
    const tables = hiding.map(({ table, policies }) => `${table} (${policies || "no policy"})`);
    return fault(
      `row level security hides rows from the role in ${listed(tables, MAX_RIGHTS)}`,
      SHOW_ROWS,
      EXIT.database,
    );
  }
  const lacking = await findLackingRights(sql);
  if (lacking.sync.length > 0) {
    return fault(
      `the role may not ${listed(lacking.sync, MAX_RIGHTS)}`,
      "grant the role what it lacks, or use the role that owns the schemas mirror and sync",
      EXIT.database,
    );
  }
  if (lacking.migrate.length > 0) {
    return warning(
      `enough for a sync, but the role may not ${listed(lacking.migrate, MAX_RIGHTS)}`,
      "run `docmirror migrate` as the role that owns the schemas when an upgrade asks for it",
    );
  }
  const mine = "the role may read, write and change all that docmirror keeps";
  const open = await findOpenToAll(sql);
  return ok(
    open === ""
      ? mine
      : `${mine}. Every role may make ${open} here, also one that only reads; a superuser can revoke that`,
  );
}

/** Checks that the schema is the one of this program. The result is `none` where there is no schema yet. */
async function checkMigrations(sql: Sql, isEmbedded: boolean, none: Result): Promise<Result> {
  const status = await migrationStatus(sql, readDefinitions());
  if (isUnmade(status)) return none;
  const { state, migrations } = status;
  if (state === "older" && isEmbedded) {
    return warning(
      whatIsMissing(status),
      "the next `docmirror sync` brings them up to date, or `docmirror migrate` does now",
    );
  }
  assertUsable(status);
  if (state === "newer") {
    return warning(
      "a later version of docmirror has migrated this database; this program may still use it",
      "upgrade docmirror here too: this program writes no backups, and refreshes no reports that it does not know",
    );
  }
  const repairs = await findSequenceRepairs(sql);
  if (repairs.length > 0)
    return fault(
      "sequences are behind the numbers of their tables, as logical replication leaves them",
      `run as the owner: ${repairs.join("; ")}`,
      EXIT.database,
    );
  return ok(`all ${migrations.length} are applied, the last one is ${migrations.at(-1)?.tag}`);
}

/** Checks that the mirror is of the service that the settings name. Throws `ConfigError` where it is of another. */
async function checkMirror(sql: Sql, baseUrl: URL | null): Promise<Result> {
  const service = await findService(sql);
  if (service === null)
    return unknown("the mirror does not say which service it is of", "the next sync stores it");
  if (baseUrl === null) return ok(`the mirror is of ${service.baseUrl}`);
  await assertService(sql, baseUrl);
  return ok(`the mirror is of ${service.baseUrl}, as the settings say`);
}

/** Checks the age of the mirror by its oldest list, and that no run has its time from a clock that was ahead. */
async function checkFreshness({ sql, config, status: read, now }: Examined): Promise<Result> {
  const runs = await sql<{ id: number; at: string }[]>`
    select id, greatest(started_at, finished_at) as at from sync.runs order by id desc limit ${RUNS}`;
  const ahead = runs.filter(({ at }) => isAhead(at, now));
  const [newest] = ahead;
  if (newest) {
    const some =
      ahead.length === 1 ? `run ${newest.id}` : `${ahead.length} runs, the newest of them ${newest.id},`;
    return warning(
      `${some} ended at ${newest.at}, which is ahead of now: a clock is or was wrong`,
      "set this machine's clock by NTP; data of such a run counts as stale, and the next sync reads it again",
    );
  }
  const status = await read();
  const { reports_failed: failed, dates_in_change, held_deletions, count_gaps, oldest_list } = status;
  if (status.resources.every(({ last_good_at }) => last_good_at === null)) {
    return unknown("nothing was mirrored yet", "`docmirror sync`");
  }
  if (failed !== null)
    return warning(`the refresh of the reports failed at ${failed.at}: ${failed.error}`, HOW_IT_GOES_ON);
  if (dates_in_change)
    return warning(describeDatesInChange(dates_in_change), "the next sync reads it in full");
  if (held_deletions.length > 0) {
    const held = held_deletions.map(describeHeld).join("; ");
    return warning(held, "ask the service's owner whether so much was deleted");
  }
  if (count_gaps.length > 0) {
    return warning(
      count_gaps.map(describeCountGap).join("; "),
      "what a list does not show cannot be mirrored: ask the service's owner whether it is cut, or its count is wrong",
    );
  }
  const unsteady = (await findUnsteady(sql)).filter(
    ({ resource, field }) => !config.ignoredFields?.includes(`${resource}.${field}`),
  );
  if (unsteady.length > 0)
    return warning(unsteady.map(describeUnsteady).join("; "), "set it, and ask the service's owner why");
  const denied = (await findSuspects(sql)).filter(({ verdict }) => verdict === "denied");
  if (denied.length > 0) {
    return warning(
      describeDenied(denied),
      "the mirror has them as the list shows them: ask the service's owner which of both is right",
    );
  }
  if (status.stale) {
    const { resource, why } = oldest_list;
    return warning(`the ${resource} list ${why}`, "see `docmirror status` for what the last runs say");
  }
  const { reports_behind_since: behindSince } = status;
  if (behindSince !== null && now.getTime() - Date.parse(behindSince) > REPORTS_LATE_MS) {
    const holders = await describeRefreshing(sql);
    return warning(
      `the reports lack what runs have found since ${behindSince}${holders && `: their refresh waits for ${holders}`}`,
      holders === ""
        ? "`docmirror report freshness` refreshes them, or says why it cannot"
        : "end that session, or wait until it is done; nothing is lost",
    );
  }
  return ok(`all lists were read within ${formatSpan(status.age_ms ?? 0)}`);
}

/** Checks that the database has room for a month, where its limit is known, and that old rounds are removed. */
async function checkSize({ sql, status, now }: Examined): Promise<Result> {
  const { sizes } = await status();
  const found = describeSizes(sizes);
  if (sizes.days_left !== null && sizes.days_left < DAYS_OF_ROOM)
    return warning(
      found,
      "make room in time: a larger disk, or `docmirror prune` (docs/database.md, Retention)",
    );
  const horizon = new Date(now.getTime() - ROUNDS_KEPT_MS - UNPRUNED_MS).toISOString();
  const { runs } = await countPrunable(sql, "rounds", horizon);
  if (runs === 0) return ok(found);
  return warning(
    `${found}; nothing removes old rounds of the watch: ${grouped(runs)} are from before ${horizon}`,
    "a worker does it by DOCMIRROR_PRUNE_CRON, as its log says; `docmirror prune --older-than 400d` does it with the history",
  );
}

/** Checks that something backs the mirror up, and well. */
async function checkBackups({ config: { backupDir }, status, now }: Examined): Promise<Result> {
  if (backupDir !== null) await assertBackupFolder(backupDir);
  const last = (await status()).jobs.find(({ job }) => job === "backup");
  if (last === undefined)
    return warning(
      "no backup was written by schedule yet, and only the mirror has the history",
      "set DOCMIRROR_BACKUP_CRON and DOCMIRROR_BACKUP_DIR, or run `docmirror backup FOLDER --keep 14` each night",
    );
  if (last.failures === 0 && ageMs(last.good_at, now) < BACKUP_WITHIN_MS) return ok(describeJob(last, now));
  return warning(describeJob(last, now), "look at the log of the worker or the timer that writes backups");
}
