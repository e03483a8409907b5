import type { SettingsFor } from "../../base/config/settings.ts";
import { messageOf, StoreError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { StoreMeter } from "../../base/metrics/meters.ts";
import { describeSessions, findTableHolders } from "../../store/connection/other-sessions.ts";
import {
  type AnySql,
  runText,
  type Sql,
  type TransactionSql,
  withTransaction,
} from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { areReportsLater } from "../../store/migrate/migrate.ts";
import { readDefinitions } from "../definitions.ts";
import { EXPENSIVE_ANSWERS } from "../stored/answers.ts";
import { type Computed, computeAll, computeChanges, computeEverything, type Run } from "./compute-answers.ts";
import { type FailedRefresh, noteFailedRefresh, RefreshError, takeFailedRefresh } from "./failed-refresh.ts";

/** The settings that the stored answers depend on. */
type RefreshSettings = SettingsFor<"reports">;

/**
 * Refreshes take turns by a lock that belongs to their transaction, and that takes no snapshot: the one behind sees all that the one
 * before has written. A role that only reads cannot take it.
 */
const TURN = { table: "rollup.state", mode: "share row exclusive" };
/** The expensive answers take one part in 100 of the time at most, and wait for a changed record or another hour. */
const EXPENSIVE_SHARE = 100;
/** The facts are compared with their builds after a sync, but not twice in a night. */
const CHECK_AFTER_HOURS = 20;

/** Rows that were read leave their room to nobody before a vacuum; this much is worth one. */
const VACUUM_BYTES = 8_388_608;

/** Reports that are behind for so long wait for something: all of a large mirror are computed in minutes. */
export const REPORTS_LATE_MS = 900_000;

/** Its settings end with the transaction, and so does its turn. */
const BEGIN_REFRESH = `
  set transaction isolation level repeatable read;
  -- Projects are written before versions, and both may lose rows: only when both are written do they agree.
  set constraints all deferred;
  -- The next refresh computes again what a crash of the server loses.
  set local synchronous_commit = off;
  set local jit = off;
  set local work_mem = '128MB';
  -- A smaller sample: the plans depend on how many rows there are. Autovacuum takes a larger one soon.
  set local default_statistics_target = 20;
  -- A source joins more tables than the planner orders by default; without this, few builds cost as much as
  -- all.
  set local join_collapse_limit = 20;
  set local from_collapse_limit = 20;
  -- From a dozen tables on Postgres would search for a plan by chance, which takes longer than to try all.
  set local geqo = off;
  -- To compute a row costs more here than to pass it to another process, which the planner does not know.
  set local parallel_tuple_cost = 0.001;
  set local parallel_setup_cost = 100;
  lock table ${TURN.table} in ${TURN.mode} mode`;

export interface RefreshOptions extends RefreshSettings {
  /** Uses the settings of the last refresh, as commands that only read the answers must. @default the given ones */
  keepsSettings?: boolean;
  /** Classifies all failures again, by the current rules. @default only those that changed */
  reclassify?: boolean;
  /** Compares all facts with their builds. @default when a sync has ended, once in 20 hours */
  check?: boolean;
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

/** Says that runs have ended, or definitions changed, since the answers were computed, or that they never were. */
export async function isReportBehind(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ current: boolean }[]>`
    select exists (
      select from rollup.state where run_id = (${LAST_RUN(sql)}) and definition = (${DEFINITION(sql)})
    ) as current`;
  return row?.current !== true;
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
  const [row] = await withStoreErrors(
    "read the rights of the role",
    () => sql<{ mayWrite: boolean }[]>`
      select current_setting('transaction_read_only') = 'off' and exists (
        select from pg_class join pg_namespace as space on space.oid = relnamespace
        where (nspname, relname) = ('rollup', 'state')
          and has_schema_privilege(space.oid, 'usage') and has_table_privilege(pg_class.oid, 'insert')
      ) as "mayWrite"`,
  );
  return row?.mayWrite === true;
}

/** One hash of all definitions that compute stored answers. When another one comes, all is computed again. */
const DEFINITION = (sql: Sql | TransactionSql) =>
  sql`select coalesce(md5(string_agg(hash, '' order by name)), '') from sync.definitions where name like 'rollup.%'`;

/** The newest run that ended. One that is under way may write more, so the next refresh reads its builds again. */
const LAST_RUN = (sql: Sql | TransactionSql) =>
  sql`select coalesce(max(id), 0) from sync.runs where status <> 'running'`;

/**
 * The moment before which everything has been read: the start of the newest good walk, once any walk was
 * whole. A walk that a wrong clock dated ahead of now covers only up to now.
 */
const COVERED_THROUGH = (sql: TransactionSql) => sql`
  select least(started_at, now()) from sync.walks
  where resource = 'build' and is_good and finished_at is not null
    and exists (select from sync.walks where resource = 'build' and walk = 'whole')
  order by run_id desc limit 1`;

/** `is_any_touched`: see `Due`. `touched_bytes`: the size of the table in which writers note what they change. */
type State = {
  run_id: number;
  source_timezone: string;
  stuck_after_s: number;
  is_any_touched: boolean | null;
  touched_bytes: number;
} & Record<
  "is_redefined" | "is_failed" | "is_expensive_due" | "is_check_due" | "is_ahead_over" | "is_calendar_over",
  boolean
>;

const READ_STATE = (tx: TransactionSql) => tx<State[]>`
  select run_id, definition <> (${DEFINITION(tx)}) as is_redefined, source_timezone, stuck_after_s,
    dear_refreshed_at is null
      or (dear_revision <> (${REVISION(tx)}) or (${COVERED_THROUGH(tx)}) >= (select max(hour) + interval '1 hour' from rollup.backlog))
      and now() - dear_refreshed_at >= ${EXPENSIVE_SHARE}::int * dear_took_s * interval '1 s' as is_expensive_due,
    exists (
      select from sync.runs
      where kind in ('full', 'incremental') and status <> 'running' and id > state.run_id
    ) and (now() - checked_at between interval '0' and ${CHECK_AFTER_HOURS} * interval '1 hour') is not true as is_check_due,
    coalesce(next_dated_at <= now(), false) as is_ahead_over,
    not exists (
      select from report.dim_dates
      where day = make_date(extract(year from now() at time zone 'UTC')::int + 1, 12, 31)
    ) as is_calendar_over,
    exists (select from rollup.failed_refresh) as is_failed,
    (select bool_or(record_id is null) from sync.touched_records) as is_any_touched,
    pg_relation_size('sync.touched_records') as touched_bytes
  from rollup.state where id = 1`;

/** Grows with each statement that changed a record. */
const REVISION = (tx: TransactionSql) => tx`select coalesce(sum(revision), 0)::bigint from sync.revisions`;

async function refresh(
  tx: TransactionSql,
  { keepsSettings = false, reclassify = false, check, ...given }: RefreshOptions,
): Promise<RefreshResult & { failedBefore: FailedRefresh | null; touchedBytes: number }> {
  await runText(tx, BEGIN_REFRESH);
  const [before] = await READ_STATE(tx);
  const touchedBytes = before?.touched_bytes ?? 0;
  // Within the transaction: a migration may have ended since this process looked.
  if (await areReportsLater(tx, readDefinitions())) {
    const nothing = { changed: 0, isFull: false, repaired: null, failedBefore: null, touchedBytes };
    return { runId: before?.run_id ?? 0, isLeft: true, ...nothing };
  }
  const kept = keepsSettings ? before : undefined;
  const sourceTimezone = kept?.source_timezone ?? given.sourceTimezone;
  const stuckAfterS = kept?.stuck_after_s ?? given.stuckAfterMs / 1000;
  const [state] = await tx<{ run_id: number }[]>`
    insert into rollup.state (id, source_timezone, stuck_after_s, definition, run_id, covered_through, refreshed_at)
    values (1, ${sourceTimezone}, ${stuckAfterS}, (${DEFINITION(tx)}), (${LAST_RUN(tx)}), (${COVERED_THROUGH(tx)}), now())
    on conflict (id) do update set
      source_timezone = excluded.source_timezone, stuck_after_s = excluded.stuck_after_s, definition = excluded.definition,
      run_id = excluded.run_id, covered_through = excluded.covered_through, refreshed_at = excluded.refreshed_at
    returning run_id, pg_notify('docmirror_run', run_id::text)`;
  const failedBefore = before?.is_failed === false ? null : await takeFailedRefresh(tx);
  const run: Run = (text) => runText(tx, text);
  const { changed, repaired, isFull } =
    failedBefore !== null ||
    before === undefined ||
    before.is_redefined ||
    before.source_timezone !== sourceTimezone ||
    before.stuck_after_s !== stuckAfterS
      ? await computeEverything(tx, run)
      : await computeChanges(tx, run, {
          reclassify,
          isCheckDue: check ?? before.is_check_due,
          isAheadOver: before.is_ahead_over,
          isCalendarOver: before.is_calendar_over,
          isAnyTouched: before.is_any_touched,
        });
  if (isFull || before?.is_expensive_due || repaired) {
    const from = performance.now();
    for (const answer of EXPENSIVE_ANSWERS) await computeAll(run, answer);
    const tookS = (performance.now() - from) / 1000;
    await tx`update rollup.state set dear_refreshed_at = now(), dear_took_s = ${tookS}, dear_revision = (${REVISION(tx)})`;
  }
  return { runId: state?.run_id ?? 0, changed, isFull, repaired, isLeft: false, failedBefore, touchedBytes };
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
