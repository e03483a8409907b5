/**
 * Brings the stored answers behind schema `report` up to date with the mirror. Changed builds are found by
 * comparison, so the next refresh also does what a killed process left undone. Readers see the old answers
 * until they see all new ones at once.
 */
import { abortable } from "../db/abortable.ts";
import { connect, type Sql, type TransactionSql } from "../db/connect.ts";
import { assertSessionPooling } from "../db/session-pooling.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { withTransaction } from "../db/transaction.ts";
import type { RefreshSettings } from "./refresh-settings.ts";
import {
  type Affected,
  addAllStatements,
  BUILDS,
  MERGE_TOUCHED_BUILDS,
  mergeAllStatements,
  mergeStatement,
  STORED_ANSWERS,
  type StoredAnswer,
} from "./stored-answers.ts";

/** A number that no other program uses on this database: refreshes take turns. */
const LOCK_KEY = "6441180125304119587";
/**
 * When more builds than this changed, all answers are computed again: that costs less than to find each part.
 */
const FEW = 20_000;
/** The expensive answers are computed for at most one part in 20 of the time. */
const EXPENSIVE_SHARE = 20;

/** They end with the transaction. */
const TRANSACTION_SETTINGS = `
  set transaction isolation level repeatable read;
  -- The next refresh computes again what a crash of the server loses.
  set local synchronous_commit = off;
  set local jit = off;
  set local work_mem = '128MB';
  -- A source joins more tables than the planner orders by default; without this, few builds cost as much as
  -- all.
  set local join_collapse_limit = 20;
  set local from_collapse_limit = 20;
  -- To compute a row costs more here than to pass it to another process, which the planner does not know.
  set local parallel_tuple_cost = 0.001;
  set local parallel_setup_cost = 100`;

export interface RefreshOptions extends RefreshSettings {
  /**
   * Uses the two settings of the last refresh, as commands that only read the answers must. @default the
   * given ones are used
   */
  keepsSettings?: boolean;
  /** Classifies all failures again, by the current rules. @default only those that changed */
  reclassify?: boolean;
  /** Cancels the refresh; nothing is changed then. */
  signal?: AbortSignal;
}

export interface RefreshResult {
  /** The newest run that is in the answers; 0 when there was none. */
  runId: number;
  /** Builds whose facts changed; all of them where everything was computed again. */
  changed: number;
  /** Whether everything was computed again. */
  isFull: boolean;
}

/**
 * Refreshes the answers in one transaction, and notifies the channel `docmirror_run` of the number of the
 * newest run in them. Safe to repeat, and safe during runs and reads; two refreshes take turns. Throws
 * `StoreError`, and the signal's reason.
 */
export async function refreshReport(url: string, options: RefreshOptions): Promise<RefreshResult> {
  const { signal } = options;
  const sql = connect(url, { applicationName: "docmirror report", max: 1 });
  try {
    return await withStoreErrors("refresh the reports", async () => {
      await assertSessionPooling(sql, url);
      // This comes before the transaction, whose snapshot must be taken after the lock.
      await abortable(sql`select pg_advisory_lock(${LOCK_KEY})`, signal);
      return await withTransaction(sql, (tx) => refresh(tx, options));
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/**
 * Whether runs have ended, or definitions changed, since the answers were computed; true where they never
 * were.
 */
export async function isReportBehind(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ current: boolean }[]>`
    select exists (
      select from rollup.state where run_id = (${LAST_RUN(sql)}) and definition = (${DEFINITION(sql)})
    ) as current`;
  return row?.current !== true;
}

/**
 * Whether the role of this session may refresh the answers. False for a role that only reads, and for a
 * session or a server that is read-only.
 */
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

/**
 * One hash of all definitions that compute stored answers. When it differs from that of the last refresh,
 * everything is computed again.
 */
const DEFINITION = (sql: Sql | TransactionSql) =>
  sql`select coalesce(md5(string_agg(hash, '' order by name)), '') from sync.definitions where name like 'rollup.%'`;

/**
 * The newest run that ended. A run that is under way may write more, so the next refresh reads its builds
 * again.
 */
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

interface State {
  run_id: number;
  is_redefined: boolean;
  source_timezone: string;
  stuck_after_s: number;
  is_expensive_due: boolean;
}

async function refresh(
  tx: TransactionSql,
  { keepsSettings = false, reclassify = false, signal, ...given }: RefreshOptions,
): Promise<RefreshResult> {
  await tx.unsafe(TRANSACTION_SETTINGS);
  const [before] = await tx<State[]>`
    select run_id, definition <> (${DEFINITION(tx)}) as is_redefined, source_timezone, stuck_after_s,
      coalesce(now() - dear_refreshed_at >= ${EXPENSIVE_SHARE}::int * dear_took_s * interval '1 s', true) as is_expensive_due
    from rollup.state`;
  const kept = keepsSettings ? before : undefined;
  const sourceTimezone = kept?.source_timezone ?? given.sourceTimezone;
  const stuckAfterS = kept?.stuck_after_s ?? given.stuckAfterMs / 1000;
  const isFull =
    before === undefined ||
    before.is_redefined ||
    before.source_timezone !== sourceTimezone ||
    before.stuck_after_s !== stuckAfterS;
  const [state] = await tx<{ run_id: number }[]>`
    insert into rollup.state (id, source_timezone, stuck_after_s, definition, run_id, covered_through, refreshed_at)
    values (1, ${sourceTimezone}, ${stuckAfterS}, (${DEFINITION(tx)}), (${LAST_RUN(tx)}), (${COVERED_THROUGH(tx)}), now())
    on conflict (id) do update set
      source_timezone = excluded.source_timezone, stuck_after_s = excluded.stuck_after_s, definition = excluded.definition,
      run_id = excluded.run_id, covered_through = excluded.covered_through, refreshed_at = excluded.refreshed_at
    returning run_id`;
  // Without this the planner assumes hundreds of rows instead of one, which spoils every plan.
  await tx`analyze rollup.state`;
  const run = <Row extends object = never>(text: string, params: (string[] | number)[] = []) =>
    abortable(tx.unsafe<Row[]>(text, params), signal);
  const computeAll = async (answer: StoredAnswer) => {
    const isEmpty = (await run<object>(`select from ${answer.table} limit 1`)).length === 0;
    const statements = isEmpty ? addAllStatements(answer) : mergeAllStatements(answer);
    for (const statement of statements) await run(statement);
  };
  let changed: number;
  let affected: Affected | null = null;
  if (!isFull) {
    await tx`create temporary table touched (build_id text collate "C" primary key) on commit drop`;
    await abortable(findTouched(tx, before.run_id, reclassify), signal);
    await tx`analyze touched`;
    const [merged] = await run<{ changed: number } & Affected>(MERGE_TOUCHED_BUILDS, [FEW]);
    changed = merged?.changed ?? 0;
    if (merged && changed <= FEW) affected = merged;
    else await tx`analyze rollup.builds`;
  } else {
    await computeAll(BUILDS);
    changed = (await tx<{ builds: number }[]>`select count(*) as builds from rollup.builds`)[0]?.builds ?? 0;
  }

  for (const answer of STORED_ANSWERS.filter(({ isExpensive }) => !isExpensive)) {
    if (affected === null) {
      await computeAll(answer);
      continue;
    }
    const { text, params } = mergeStatement(answer, affected);
    // Without changed parts there is nothing to compute.
    if (params.every((part) => part.length > 0)) await run(text, params);
  }
  if (isFull || before?.is_expensive_due) {
    const from = performance.now();
    for (const answer of STORED_ANSWERS.filter(({ isExpensive }) => isExpensive)) await computeAll(answer);
    const tookS = (performance.now() - from) / 1000;
    await tx`update rollup.state set dear_refreshed_at = now(), dear_took_s = ${tookS}`;
  }
  const runId = state?.run_id ?? 0;
  await tx`select pg_notify('docmirror_run', ${String(runId)})`;
  return { runId, changed, isFull };
}

/**
 * Builds whose record, keys or transitions differ from their facts, and builds that time alone may change.
 */
function findTouched(tx: TransactionSql, lastRunId: number, reclassify: boolean) {
  return tx`
    insert into touched
    select build.id from mirror.builds as build left join rollup.builds as fact on fact.build_id = build.id
    where fact.build_id is null or fact.record_hash <> build.record_hash or fact.deleted_at is distinct from build.deleted_at
      or fact.project_id <> coalesce(build.project_id, '-1') or fact.version_id <> coalesce(build.version_id, '-1')
    union select build_id from mirror.build_transitions where run_id > ${lastRunId}
    union select build_id from sync.open_builds
    union select build_id from rollup.builds where not is_settled or last_seen_at is not null
    union select build_id from rollup.builds where ${reclassify} and failed = 1`;
}
