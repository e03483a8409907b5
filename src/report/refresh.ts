/**
 * Brings the stored answers behind schema `report` up to what the mirror holds. Which builds changed is found by comparing, not by being
 * told: what a killed process left undone, the next refresh does. Readers go on reading what was there; they see the new answers all at once.
 */
import { abortable } from "../db/abortable.ts";
import { connect, type Sql, type TransactionSql } from "../db/connect.ts";
import { assertSessionPooling } from "../db/session-pooling.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { withTransaction } from "../db/transaction.ts";
import type { RefreshSettings } from "./refresh-settings.ts";
import {
  type Affected,
  BUILDS,
  MERGE_TOUCHED_BUILDS,
  mergeAllStatements,
  mergeStatement,
  STORED_ANSWERS,
  type StoredAnswer,
} from "./stored-answers.ts";

/** Any number that no other program of this database uses: refreshes take turns. */
const LOCK_KEY = "6441180125304119587";
/** Where more builds than this changed, all answers are computed anew: that costs less than to look each part up. */
const FEW = 20_000;
/** The dear answers take one part in so many of the time at most. */
const DEAR_SHARE = 20;

/** They end with the transaction. */
const TRANSACTION_SETTINGS = `
  set transaction isolation level repeatable read;
  -- What a killed refresh would lose is computed again by the next one.
  set local synchronous_commit = off;
  set local jit = off;
  set local work_mem = '128MB';
  -- A source joins more tables than the planner would order by itself; few builds must not cost what all do.
  set local join_collapse_limit = 20;
  set local from_collapse_limit = 20;
  -- What is computed for a row costs more here than to hand the row on, which the planner does not see.
  set local parallel_tuple_cost = 0.001;
  set local parallel_setup_cost = 100`;

export interface RefreshOptions extends RefreshSettings {
  /** Keeps to the two settings that the answers were computed with last, as whoever reads them must. @default those given count */
  keepsSettings?: boolean;
  /** Classifies all failures anew, by the rules of now. @default only those that changed */
  reclassify?: boolean;
  /** Cancels what is under way; nothing is changed then. */
  signal?: AbortSignal;
}

export interface RefreshResult {
  /** The newest run whose sightings are in the answers; 0 when there was none. */
  runId: number;
  /** Builds whose facts changed; all of them where everything was computed anew. */
  changed: number;
  /** Whether everything was computed anew. */
  isFull: boolean;
}

/**
 * Refreshes the answers, in one transaction, and then tells whoever listens to the channel `docmirror_run` the number of the newest run in
 * them. Safe to repeat, and safe beside runs and readers; two refreshes take turns. Throws `StoreError`, and the signal's reason.
 */
export async function refreshReport(url: string, options: RefreshOptions): Promise<RefreshResult> {
  const { signal } = options;
  const sql = connect(url, { applicationName: "docmirror report", max: 1 });
  try {
    return await withStoreErrors("refresh the reports", async () => {
      await assertSessionPooling(sql, url);
      // Before the transaction: its snapshot must be taken when the turn has come.
      await abortable(sql`select pg_advisory_lock(${LOCK_KEY})`, signal);
      return await withTransaction(sql, (tx) => refresh(tx, options));
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Whether runs have ended, or definitions changed, since the answers were computed; true where they never were. */
export async function isReportBehind(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ current: boolean }[]>`
    select exists (
      select from rollup.state where run_id = (${LAST_RUN(sql)}) and definition = (${DEFINITION(sql)})
    ) as current`;
  return row?.current !== true;
}

/** One hash of all that computes stored answers. When it is not that of the last refresh, all is computed anew. */
const DEFINITION = (sql: Sql | TransactionSql) =>
  sql`select coalesce(md5(string_agg(hash, '' order by name)), '') from sync.definitions where name like 'rollup.%'`;

/** The newest run that ended. One that is under way may write more: what is seen of it already is looked at again by the next refresh. */
const LAST_RUN = (sql: Sql | TransactionSql) =>
  sql`select coalesce(max(id), 0) from sync.runs where status <> 'running'`;

/**
 * What happened before it has been read: by the newest walk that came to a good end, if one ever read the whole list. A walk that a wrong
 * clock dated ahead of now covers no more than up to now.
 */
const COVERED_THROUGH = (sql: TransactionSql) => sql`
  select least(started_at, now()) from sync.walks
  where resource = 'build' and is_good and finished_at is not null
    and exists (select from sync.walks where resource = 'build' and walk = 'whole')
  order by run_id desc limit 1`;

interface State {
  run_id: number;
  is_defined_anew: boolean;
  source_timezone: string;
  stuck_after_s: number;
  is_dear_due: boolean;
}

async function refresh(
  tx: TransactionSql,
  { keepsSettings = false, reclassify = false, signal, ...given }: RefreshOptions,
): Promise<RefreshResult> {
  await tx.unsafe(TRANSACTION_SETTINGS);
  const [before] = await tx<State[]>`
    select run_id, definition <> (${DEFINITION(tx)}) as is_defined_anew, source_timezone, stuck_after_s,
      coalesce(now() - dear_refreshed_at >= ${DEAR_SHARE}::int * dear_took_s * interval '1 s', true) as is_dear_due
    from rollup.state`;
  const kept = keepsSettings ? before : undefined;
  const sourceTimezone = kept?.source_timezone ?? given.sourceTimezone;
  const stuckAfterS = kept?.stuck_after_s ?? given.stuckAfterMs / 1000;
  const isFull =
    before === undefined ||
    before.is_defined_anew ||
    before.source_timezone !== sourceTimezone ||
    before.stuck_after_s !== stuckAfterS;
  const [state] = await tx<{ run_id: number }[]>`
    insert into rollup.state (id, source_timezone, stuck_after_s, definition, run_id, covered_through, refreshed_at)
    values (1, ${sourceTimezone}, ${stuckAfterS}, (${DEFINITION(tx)}), (${LAST_RUN(tx)}), (${COVERED_THROUGH(tx)}), now())
    on conflict (id) do update set
      source_timezone = excluded.source_timezone, stuck_after_s = excluded.stuck_after_s, definition = excluded.definition,
      run_id = excluded.run_id, covered_through = excluded.covered_through, refreshed_at = excluded.refreshed_at
    returning run_id`;
  // Taken for a table of hundreds of rows, its single one would spoil every plan.
  await tx`analyze rollup.state`;
  const run = <Row extends object = never>(text: string, params: (string[] | number)[] = []) =>
    abortable(tx.unsafe<Row[]>(text, params), signal);
  const computeAll = async (answer: StoredAnswer) => {
    for (const statement of mergeAllStatements(answer)) await run(statement);
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
    // Of nothing that changed there is nothing to compute.
    if (params.every((part) => part.length > 0)) await run(text, params);
  }
  if (isFull || before?.is_dear_due) {
    const from = performance.now();
    for (const answer of STORED_ANSWERS.filter(({ isExpensive }) => isExpensive)) await computeAll(answer);
    const tookS = (performance.now() - from) / 1000;
    await tx`update rollup.state set dear_refreshed_at = now(), dear_took_s = ${tookS}`;
  }
  const runId = state?.run_id ?? 0;
  await tx`select pg_notify('docmirror_run', ${String(runId)})`;
  return { runId, changed, isFull };
}

/** Builds whose record, keys or transitions are not those of their facts, and those that time alone may change. */
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
