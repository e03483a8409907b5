import type { SettingsFor } from "../../base/config/settings.ts";
import { messageOf, StoreError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { StoreMeter } from "../../base/metrics/meters.ts";
import { describeSessions, findTableHolders } from "../../store/connection/other-sessions.ts";
import {
  type AnySql,
  readSqlFile,
  runText,
  type Sql,
  statement,
  type TransactionSql,
  withTransaction,
} from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { areReportsLater } from "../../store/migrate/migrate.ts";
import { readDefinitions } from "../definitions.ts";
import { EXPENSIVE_ANSWERS } from "../stored/answers.ts";
import { type Computed, computeAll, computeChanges, computeEverything, type Run } from "./compute-answers.ts";
import { type FailedRefresh, noteFailedRefresh, RefreshError, takeFailedRefresh } from "./failed-refresh.ts";

const REFRESH_STATE = statement<RefreshState>("refresh_state", import.meta.url);
const SAVE_STATE = statement("save_state", import.meta.url);
const MAY_REFRESH = statement<{ mayWrite: boolean }>("may_refresh", import.meta.url);

/** The settings that the stored answers depend on. */
type RefreshSettings = SettingsFor<"reports">;

/**
 * Refreshes take turns by a lock that belongs to their transaction, and that takes no snapshot: the one behind sees all that the one
 * before has written. A role that only reads cannot take it.
 */
const TURN = { table: "rollup.state", mode: "share row exclusive" };
/** Its settings end with the transaction, and so does its turn. */
const BEGIN_REFRESH = `${readSqlFile(new URL("sql/refresh_settings.sql", import.meta.url))}
lock table ${TURN.table} in ${TURN.mode} mode`;
/** The expensive answers take one part in 100 of the time at most, and wait for a changed record or another hour. */
const EXPENSIVE_SHARE = 100;
/** The facts are compared with their builds after a sync, but not twice in a night. */
const CHECK_AFTER_HOURS = 20;

/** Rows that were read leave their room to nobody before a vacuum; this much is worth one. */
const VACUUM_BYTES = 8_388_608;

/** Reports that are behind for so long wait for something: all of a large mirror are computed in minutes. */
export const REPORTS_LATE_MS = 900_000;

export interface RefreshOptions extends RefreshSettings {
  /** Uses the settings of the last refresh, as commands that only read the answers must. @default the given ones */
  keepsSettings?: boolean;
  /** Classifies all failures again, by the current rules. @default only those that changed */
  reclassify?: boolean;
  /** Compares all facts with their builds. @default when a sync has ended, once in 20 hours */
  check?: boolean;
  /** Somebody reads the expensive answers now: no part of the time is too much for them. @default false */
  expensive?: boolean;
  /** Cancels the refresh; nothing is changed then. */
  signal?: AbortSignal;
  log?: Logger;
}

interface RefreshResult extends Computed {
  /** The newest run that is in the answers; 0 when there was none. */
  runId: number;
  /** True where nothing was done, because a later version of the program defined the reports. */
  isLeft: boolean;
}

/**
 * Brings the stored answers behind schema `report` up to date with the mirror, in one transaction, and notifies the channel
 * `docmirror_run` of the newest run in them. Writers note in `sync.touched_records`, in their own transactions, which records
 * they change: so a refresh costs what changed, and also does what a killed process left undone. After one that failed it computes
 * everything anew. Leaves reports that a later version of the program defined to that version. Safe to repeat, and during runs and
 * reads; two refreshes take turns. Throws `RefreshError` where the answers cannot be computed, `StoreError`, and the signal's
 * reason.
 */
export async function refreshReport(sql: Sql, options: RefreshOptions): Promise<RefreshResult> {
  const { signal, log } = options;
  return await withStoreErrors("refresh the reports", async () => {
    const { failedBefore, touchedBytes, ...result } = await withTransaction(
      sql,
      (tx) => refresh(tx, options),
      signal,
    ).catch(async (error: unknown) => {
      throw await noteFailedRefresh(sql, error, signal);
    });
    if (failedBefore !== null)
      log?.warn(
        { failed_at: failedBefore.at, error: failedBefore.error },
        "the refresh before failed; everything was computed anew",
      );
    if (touchedBytes >= VACUUM_BYTES) await sql`vacuum (skip_locked) sync.touched_records`;
    return result;
  });
}

/**
 * Says that runs have ended, or definitions changed, since the answers were computed, or that they never were; with `expensive`, also
 * that what the expensive ones read has changed since these were.
 */
export async function isReportBehind(sql: Sql, { expensive = false } = {}): Promise<boolean> {
  const state = await readState(sql);
  return (
    state.run_id !== state.last_run_id || state.is_redefined || (expensive && state.are_expensive_behind)
  );
}

/**
 * Since when a run has ended that the answers lack; null while they lack none. What a refresh needs is seconds as a rule. Asks
 * only what a reader may see.
 */
export async function findBehindSince(sql: AnySql): Promise<string | null> {
  const [row] = await sql<{ since: string | null }[]>`
    select min(coalesce(case when rounds > 1 then rounds_since end, finished_at)) as since from sync.runs
    where status <> 'running' and id > coalesce((select max(refreshed_run_id) from report.freshness), 0)`;
  return row?.since ?? null;
}

/** The sessions that refresh the reports now, for people; empty where none does. */
export const describeRefreshing = async (sql: AnySql): Promise<string> =>
  describeSessions(await findTableHolders(sql, TURN));

/** False where this session may not refresh the answers: its role only reads, or the session or the server is read-only. */
export async function mayRefresh(sql: Sql): Promise<boolean> {
  const [row] = await withStoreErrors("read the rights of the role", () => MAY_REFRESH(sql));
  return row?.mayWrite === true;
}

/** What a refresh would store now, and what the last one stored: nulls before the first one. */
interface RefreshState
  extends Record<
    | "is_redefined"
    | "is_failed"
    | "are_expensive_behind"
    | "are_expensive_due"
    | "is_check_due"
    | "is_ahead_over"
    | "is_calendar_over",
    boolean
  > {
  definition: string;
  /** The newest run that ended. */
  last_run_id: number;
  revision: number;
  covered_through: string | null;
  /** The newest run in the answers. */
  run_id: number | null;
  source_timezone: string | null;
  stuck_after_s: number | null;
  /** See `Due`. */
  is_any_touched: boolean | null;
  /** The size of the table in which writers note what they change. */
  touched_bytes: number;
}

async function readState(sql: AnySql): Promise<RefreshState> {
  const [state] = await REFRESH_STATE(sql, {
    expensiveShare: EXPENSIVE_SHARE,
    checkAfterHours: CHECK_AFTER_HOURS,
  });
  if (state === undefined) throw new Error("a select over one row gave none");
  return state;
}

async function refresh(
  tx: TransactionSql,
  { keepsSettings = false, reclassify = false, expensive = false, check, ...given }: RefreshOptions,
): Promise<RefreshResult & { failedBefore: FailedRefresh | null; touchedBytes: number }> {
  await runText(tx, BEGIN_REFRESH);
  const state = await readState(tx);
  const touchedBytes = state.touched_bytes;
  // Within the transaction: a migration may have ended since this process looked.
  if (await areReportsLater(tx, readDefinitions())) {
    const nothing = { changed: 0, isFull: false, repaired: null, failedBefore: null, touchedBytes };
    return { runId: state.run_id ?? 0, isLeft: true, ...nothing };
  }
  const kept = keepsSettings ? state : null;
  const sourceTimezone = kept?.source_timezone ?? given.sourceTimezone;
  const stuckAfterS = kept?.stuck_after_s ?? given.stuckAfterMs / 1000;
  const { definition, last_run_id: runId, covered_through: coveredThrough } = state;
  await SAVE_STATE(tx, { sourceTimezone, stuckAfterS, definition, runId, coveredThrough });
  const failedBefore = state.is_failed ? await takeFailedRefresh(tx) : null;
  const run: Run = (text) => runText(tx, text);
  const { changed, repaired, isFull } =
    failedBefore !== null ||
    state.is_redefined ||
    state.source_timezone !== sourceTimezone ||
    state.stuck_after_s !== stuckAfterS
      ? await computeEverything(tx, run)
      : await computeChanges(tx, run, {
          reclassify,
          isCheckDue: check ?? state.is_check_due,
          isAheadOver: state.is_ahead_over,
          isCalendarOver: state.is_calendar_over,
          isAnyTouched: state.is_any_touched,
        });
  if (isFull || repaired || (state.are_expensive_behind && (expensive || state.are_expensive_due))) {
    const from = performance.now();
    for (const answer of EXPENSIVE_ANSWERS) await computeAll(run, answer);
    const tookS = (performance.now() - from) / 1000;
    await tx`update rollup.state set dear_refreshed_at = now(), dear_took_s = ${tookS}, dear_revision = ${state.revision}`;
  }
  return { runId, changed, isFull, repaired, isLeft: false, failedBefore, touchedBytes };
}

/** The options of a run that a refresh needs. The run's own type would make reports depend on upstream code. */
interface RunOptions {
  settings: RefreshSettings;
  connections: { sql: Sql };
  log: Logger;
  signal: AbortSignal;
  meters?: { store: StoreMeter };
}

export interface ReportedResult {
  /** Why the refresh after a run failed; null when it did not. The next refresh does the same work. */
  reportError: unknown;
}

/** Makes a run function also refresh the reports, however the run ended. Errors of the run are thrown. */
export function withReport<Options extends RunOptions, Result extends { summary: { run_id: number } }>(
  run: (options: Options) => Promise<Result>,
): (options: Options) => Promise<Result & ReportedResult> {
  return async (options) => {
    const result = await run(options);
    const { settings, connections, signal, meters } = options;
    const log = options.log.child({ run_id: result.summary.run_id });
    const reportError = await tryRefresh(connections.sql, { ...settings, signal }, log, meters?.store);
    return { ...result, reportError };
  };
}

/** Refreshes the reports. Returns a failure or a stop, else null. A failure is logged too. */
export async function tryRefresh(...given: Parameters<typeof refreshMeasured>): Promise<unknown> {
  const [, { signal }, log] = given;
  try {
    await refreshMeasured(...given);
    return null;
  } catch (error) {
    const hint = error instanceof StoreError ? error.hint : undefined;
    const next = error instanceof RefreshError ? "computes everything anew" : "tries again";
    if (!signal?.aborted)
      log.error({ error: messageOf(error), hint, next_refresh: next }, "could not refresh the reports");
    return error;
  }
}

/** Refreshes the reports. Throws `StoreError`, and the signal's reason. */
export async function refreshMeasured(sql: Sql, options: RefreshOptions, log: Logger, meter?: StoreMeter) {
  const from = performance.now();
  const tookMs = () => Math.round(performance.now() - from);
  try {
    const { changed, isFull, repaired, runId, isLeft } = await refreshReport(sql, { ...options, log });
    meter?.refreshed(tookMs() / 1000, true);
    if (isLeft) log.debug({ newest_run_id: runId }, "a later version defined the reports; it refreshes them");
    else
      log.debug({ newest_run_id: runId, changed, full: isFull, duration_ms: tookMs() }, "reports refreshed");
    if (repaired)
      log.warn({ repaired }, "facts of builds were not what their records give; computed them again");
  } catch (error) {
    meter?.refreshed(tookMs() / 1000, false);
    throw error;
  }
}
