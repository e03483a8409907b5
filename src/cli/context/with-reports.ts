import type { Config } from "../../base/config.ts";
import { ConfigError, SchemaVersionError, StoreError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { asIso } from "../../report/read-answer.ts";
import { findReaderUrl, type ReaderLogin } from "../../report/reader-login.ts";
import { isReportBehind, refreshReport } from "../../report/refresh/refresh.ts";
import { withSql } from "../../store/connection/connect.ts";
import { oneRow, repeatAfterConflict, type Sql } from "../../store/connection/sql.ts";
import {
  isRecoveryConflict,
  LOCK_NOT_HAD,
  READ_ONLY,
  sqlstateOf,
  withStoreErrors,
} from "../../store/connection/store-errors.ts";
import { assertMirror } from "../../store/migrate/prepare.ts";
import type { CommandContext } from "./run-command.ts";
import {
  assertMirrorPlace,
  type MirrorSettings,
  mirrorPlace,
  warnOfOther,
  withDatabase,
} from "./with-mirror.ts";

interface ReportReader {
  /** Who reads at an embedded Postgres. @default docmirror_serve */
  readonly login?: ReaderLogin;
  readonly role?: string | undefined;
  /** Expensive answers are read: they are to be as new as the others. @default false */
  readonly expensive?: boolean;
}

/**
 * Opens the database that reports are read from, the replica where one is named, and has answers refreshed
 * that are older than the last run, or expensive ones older than a record. `sql` has one connection; at an embedded Postgres that of the
 * login of the reader. Throws SchemaVersionError where there is no mirror, and StoreError.
 */
export function withReports<T>(
  context: CommandContext,
  read: (sql: Sql) => Promise<T>,
  { login = "docmirror_serve", role, expensive = false }: ReportReader = {},
): Promise<T> {
  const { command, config, log } = context;
  return withReplicaHints(config, async () => {
    const place = readSettings(config);
    assertMirrorPlace(place);
    const session = readSession(config);
    const connection = { applicationName: `docmirror ${command}`, max: 1, session, log };
    return withDatabase({ ...context, config: place }, async ({ url, embedded }) => {
      if (embedded !== null) {
        await withSql(url, connection, async (sql) => {
          await warnOfOther(context, sql);
          await refreshIfBehind(context, sql, expensive);
        });
        const readerUrl = await findReaderUrl(url, login, role);
        return withSql(readerUrl ?? url, connection, read);
      }
      return withSql(url, connection, async (sql) => {
        await warnOfOther(context, sql);
        if (config.readUrl === null) await refreshIfBehind(context, sql, expensive);
        else await repeatAfterConflict(() => refreshForReplica(context, sql, expensive));
        return read(sql);
      });
    });
  });
}

/**
 * Where a command reads: the same settings, whose database is the replica where `DOCMIRROR_READ_URL` names one. A
 * standby follows the primary by itself; commands read there alone, and never write there.
 */
export function readSettings(config: Config): Config {
  return config.readUrl === null ? config : { ...config, databaseUrl: config.readUrl };
}

/** The settings of the sessions in which a command reads. The database behind that URL may take writes. */
export function readSession({ readUrl }: Config): Record<string, string> {
  return readUrl === null ? {} : { default_transaction_read_only: "on" };
}

/** Runs `fn`. Where a replica is named, the hints of errors tell what to do about that one. */
export async function withReplicaHints<T>({ readUrl }: Config, fn: () => Promise<T>): Promise<T> {
  if (readUrl === null) return fn();
  try {
    return await fn();
  } catch (error) {
    throw ofReplica(error);
  }
}

const NOT_THERE =
  "start the replica, or correct host and port in DOCMIRROR_READ_URL; without that setting DATABASE_URL is read";
const CONFLICT =
  "the replica had to replay a change that the query held up: run it again, or set hot_standby_feedback = on there, or a longer max_standby_streaming_delay";

function ofReplica(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  // Texts about the database name the setting that most commands take.
  const named = (text = "") => text.replaceAll("DATABASE_URL", "DOCMIRROR_READ_URL");
  const { message } = error;
  if (error instanceof ConfigError)
    return new ConfigError(named(message), { cause: error, hint: named(error.hint) });
  if (error instanceof SchemaVersionError) {
    const hint = `${named(error.hint)}; a replica has the schema once it has replayed what the primary did`;
    return new SchemaVersionError(message, { cause: error, hint });
  }
  if (!(error instanceof StoreError)) return error;
  const isNotThere = ["ECONNREFUSED", "ENOENT"].includes(sqlstateOf(error) ?? "");
  const hint = isRecoveryConflict(error) ? CONFLICT : isNotThere ? NOT_THERE : named(error.hint);
  const { sqlstate } = error;
  return new StoreError(`could not read the replica: ${message}`, { cause: error, sqlstate, hint });
}

/** SQLSTATE of missing rights, of a read-only server or session, and of a lock that another session has. */
const NOT_REFRESHED = ["42501", READ_ONLY, LOCK_NOT_HAD];

const OLD = "the answers are older than the last run";
const OLD_OR_NONE = `${OLD}, or were never computed`;
const EXPENSIVE_OLD = "what is expensive to compute may be older than the other answers";
const HOW_TO_REFRESH = "run `docmirror report` as the role that syncs, or wait for the next sync";

/**
 * What is older than it could be: all answers than the last run that ended, or the expensive ones, computed at `at`, than the
 * other answers. Null where nothing is.
 */
type Behind = { readonly what: "all" } | { readonly what: "expensive"; readonly at: string } | null;

/** Says what is older than it could be, with the reason for which it stays so, where there is one. */
function logBehind(
  log: Logger,
  level: "debug" | "warn",
  { what, ...time }: NonNullable<Behind>,
  facts: { readonly reason?: string; readonly hint?: string | undefined; readonly error?: string } = {},
): void {
  if (what === "all") log[level](facts, OLD_OR_NONE);
  else log[level]({ ...time, ...facts }, EXPENSIVE_OLD);
}

/**
 * Refreshes the answers of schema `report` when they are older than the last run that ended, as after a
 * killed run, and with `expensive` those that are older than a record. Where this role may not refresh them, or another session
 * keeps it from that, a warning is logged and the old answers are used. Returns
 * whether the answers are those of the last run now. Throws what `refreshReport` throws, and
 * SchemaVersionError.
 */
async function refreshIfBehind(
  { config, log, signal }: Pick<CommandContext, "config" | "log" | "signal">,
  sql: Sql,
  expensive: boolean,
): Promise<boolean> {
  const { behind, isReaderAlone } = await findAnswerState(sql, config, expensive);
  if (behind === null) return true;
  if (isReaderAlone) {
    logBehind(log, "warn", behind, { hint: HOW_TO_REFRESH });
    return false;
  }
  logBehind(log, "debug", behind);
  try {
    const { isLeft } = await refreshReport(sql, { ...config, keepsSettings: true, expensive, signal, log });
    const hint = "upgrade docmirror here too";
    if (isLeft) log.warn({ hint }, `${OLD}; a later version of docmirror refreshes them`);
    return !isLeft;
  } catch (error) {
    if (!(error instanceof StoreError && NOT_REFRESHED.includes(error.sqlstate ?? ""))) throw error;
    const hint = error.sqlstate === LOCK_NOT_HAD ? error.hint : HOW_TO_REFRESH;
    logBehind(log, "warn", behind, { hint, error: error.message });
    return false;
  }
}

/**
 * Reads what is behind, the expensive answers only where they are asked for, and whether the role has only the rights that
 * `docmirror grant-reader` gives. Throws SchemaVersionError, whose message names the place of `settings`, where this is
 * no mirror of this version.
 */
async function findAnswerState(sql: Sql, settings: MirrorSettings, expensive: boolean) {
  const { mayLookBehind } = await withStoreErrors("read the rights of the role", () =>
    oneRow(
      sql<{ mayLookBehind: boolean | null }[]>`
        select has_schema_privilege(to_regnamespace('rollup')::oid, 'usage') as "mayLookBehind"`,
    ),
  );
  const isReaderAlone = mayLookBehind === false;
  if (!isReaderAlone) await assertMirror(sql, readDefinitions(), mirrorPlace(settings));
  const behind = await withStoreErrors("read how old the answers are", async (): Promise<Behind> => {
    if (await (isReaderAlone ? isBehindForReader(sql) : isReportBehind(sql))) return { what: "all" };
    if (!expensive || !(isReaderAlone || (await isReportBehind(sql, { expensive })))) return null;
    // All that a reader sees is that the others were computed again since.
    const [old] = await sql<{ at: string }[]>`
      select max(expensive_refreshed_at) as at from report.freshness having max(expensive_refreshed_at) < max(refreshed_at)`;
    return old ? { what: "expensive", at: asIso(old.at) } : null;
  });
  return { behind, isReaderAlone };
}

/** Asks what a reader may see. The newest run has the highest number; its times may be wrong. */
async function isBehindForReader(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isBehind: boolean }[]>`
    select coalesce(finished_at > (select max(refreshed_at) from report.freshness), true) as "isBehind"
    from report.runs where finished_at is not null order by run_id desc limit 1`;
  return row?.isBehind === true;
}

/** A refresh reaches a replica within a second, unless its replay is held up. */
const PATIENCE_MS = 10_000;
const LOOK_EVERY_MS = 100;

/**
 * Has answers refreshed that a replica shows as older than the last run: at the primary, where DATABASE_URL
 * names it, since a standby cannot be written to. Then waits until the replica shows them, 10 s at most. Where
 * that fails, a warning is logged and the old answers are used: a replica must answer without its primary too.
 * Throws StoreError and SchemaVersionError of the replica, and the signal's reason.
 */
export async function refreshForReplica(
  context: CommandContext,
  replica: Sql,
  expensive = false,
): Promise<void> {
  const { config, log, clock, signal } = context;
  const { behind } = await findAnswerState(replica, readSettings(config), expensive);
  if (behind === null) return;
  const url = config.databaseUrl;
  if (url === null) {
    const hint = "set DATABASE_URL to the primary too, or wait for the next sync";
    return logBehind(log, "warn", behind, { reason: "a replica cannot be written to", hint });
  }
  let refreshedAt: string | null;
  try {
    refreshedAt = await withSql(url, { applicationName: "docmirror report", max: 1 }, async (primary) =>
      (await refreshIfBehind(context, primary, expensive)) ? findRefreshTime(primary) : null,
    );
    if (refreshedAt === null) return;
  } catch (error) {
    if (signal.aborted || !(error instanceof StoreError)) throw error;
    const reason = "the primary did not refresh them";
    return logBehind(log, "warn", behind, { reason, error: error.message, hint: error.hint });
  }
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += LOOK_EVERY_MS) {
    if (((await findRefreshTime(replica)) ?? "") >= refreshedAt) return;
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
  const hint = "`docmirror report freshness` shows how far it is behind";
  const reason = "the primary has newer ones, which the replica has not replayed yet";
  logBehind(log, "warn", behind, { reason, hint });
}

/** When the answers were computed, as a text whose order is that of time; null where they never were. */
async function findRefreshTime(sql: Sql): Promise<string | null> {
  const { at } = await oneRow(
    sql<{ at: string | null }[]>`
      select to_char(max(refreshed_at) at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as at from report.freshness`,
  );
  return at;
}
