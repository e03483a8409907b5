import type { Config } from "../../base/config.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Figures } from "../../base/metrics/figures.ts";
import { RUN_KINDS } from "../../base/metrics/labels.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { sqlstateOf } from "../../store/connection/store-errors.ts";
import { findLeader } from "../../store/ledger/leader.ts";
import { findListFreshness } from "../../store/ledger/list-freshness.ts";
import { findDeficit } from "../../store/ledger/run-ledger.ts";
import { withSnapshot } from "../read-answer.ts";
import { findOpenBuilds } from "./find-status.ts";

/** A right or a table is missing: the database answers, but not with figures. */
const REFUSED = /^42/;

/** What the database says now. `figures` is null when it is away, or refuses to tell. */
export interface FiguresReading {
  isUp: boolean;
  figures: Figures | null;
}

/** Makes a function that reads the figures of one moment. It never rejects. `read` must end in time. */
export function createReadFigures({
  read,
  options,
  log,
}: {
  read<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  options: FiguresOptions;
  log: Logger;
}): () => Promise<FiguresReading> {
  let lastTrouble: string | null = null;

  return async () => {
    try {
      const figures = await read((sql) => withSnapshot(sql, (tx) => findFigures(tx, options)));
      lastTrouble = null;
      return { isUp: true, figures };
    } catch (error) {
      const trouble = messageOf(error);
      // A scrape comes every few seconds, so the same trouble is told once.
      if (trouble !== lastTrouble) log.warn({ error: trouble }, "could not read the figures for the metrics");
      lastTrouble = trouble;
      return { isUp: REFUSED.test(sqlstateOf(error) ?? ""), figures: null };
    }
  };
}

/** The newest syncs, and the newest rounds of the watch, that are looked at: enough for years and for two days. */
const SYNCS = 1000;
const ROUNDS = 3000;
/** A run without a heartbeat for this long has died. */
const ALIVE_WITHIN_S = 60;

export interface FiguresOptions extends Pick<Config, "stuckAfterMs" | "sourceTimezone"> {
  /** Whether this process may lead. */
  isWorker: boolean;
}

/** Reads what the metrics say of the mirror. Its cost grows with the open builds and those of five weeks, not with the mirror. */
export async function findFigures(tx: TransactionSql, options: FiguresOptions): Promise<Figures> {
  const [lists, otherSchemaChanges, kinds, failedInARow, arrivals, openBuilds, lead, notices] =
    await Promise.all([
      findLists(tx),
      countOtherSchemaChanges(tx),
      findKinds(tx),
      countFailuresInARow(tx),
      findArrivals(tx),
      findOpenBuilds(tx, options),
      findLead(tx, options.isWorker),
      countNotices(tx),
    ]);
  return { lists, otherSchemaChanges, kinds, failedInARow, arrivals, openBuilds, ...lead, notices };
}

type ListRow = Omit<Figures["lists"][number], "lastGoodAt" | "deficit">;

async function findLists(tx: TransactionSql): Promise<Figures["lists"]> {
  const fresh = await findListFreshness(tx);
  const rows = await tx<ListRow[]>`
    select of.resource, records as mirrored, quarantined,
      (select total_count from sync.walks where walks.resource = of.resource and total_count is not null
       order by run_id desc limit 1) as upstream,
      (select count(*) from sync.missing_records as missing where missing.resource = of.resource) as missing,
      -- A whole walk has a reason only where its deletions are held back.
      coalesce((select reason is not null from sync.walks where walks.resource = of.resource and walk = 'whole'
       order by run_id desc limit 1), false) as "isHeldBack",
      (select count(*) from sync.drift where drift.resource = of.resource) as "schemaChanges"
    from report.freshness as of`;
  return Promise.all(
    rows.map(async (row) => {
      const startedAt = fresh.find(({ resource }) => resource === row.resource)?.startedAt ?? null;
      const deficit = await findDeficit(tx, row.resource as Resource);
      return { ...row, lastGoodAt: startedAt === null ? null : Date.parse(startedAt) / 1000, deficit };
    }),
  );
}

async function countOtherSchemaChanges(tx: TransactionSql): Promise<number> {
  const [row] = await tx<{ changes: number }[]>`
    select count(*) as changes from sync.drift where resource <> all (${[...RESOURCES]}::text[])`;
  return row?.changes ?? 0;
}

type KindRow = Figures["kinds"][number];

/** The newest run is the one with the highest number, because clocks may be wrong. */
async function findKinds(tx: TransactionSql): Promise<KindRow[]> {
  return tx<KindRow[]>`
    with recent as (
      (select * from sync.runs where kind <> 'watch' order by id desc limit ${SYNCS})
      union all
      (select * from sync.runs where kind = 'watch' order by id desc limit ${ROUNDS})
    ),
    last as (
      select distinct on (kind) id, kind, status, extract(epoch from finished_at)::float8 as "endedAt",
        extract(epoch from finished_at - started_at)::float8 as seconds, requests
      from recent where status <> 'running' and finished_at is not null order by kind, id desc
    ),
    good as (
      select distinct on (kind) kind, extract(epoch from finished_at)::float8 as at
      from recent where status = 'succeeded' order by kind, id desc
    ),
    alive as (
      select kind, count(*) as runs from recent
      where status = 'running' and heartbeat_at > clock_timestamp() - ${ALIVE_WITHIN_S} * interval '1 second'
      group by kind
    )
    select of.kind, coalesce(alive.runs, 0) as running, good.at as "lastSuccessAt",
      case when last.id is not null then jsonb_build_object(
        'status', last.status, 'endedAt', "endedAt", 'seconds', seconds, 'requests', requests, 'outcomes', (
          select jsonb_build_object(
            'inserted', coalesce(sum(inserted), 0), 'updated', coalesce(sum(updated), 0),
            'unchanged', coalesce(sum(unchanged), 0), 'deleted', coalesce(sum(deleted), 0),
            'restored', coalesce(sum(restored), 0), 'quarantined', coalesce(sum(quarantined), 0))
          from sync.walks where run_id = last.id))
      end as last
    from unnest(${[...RUN_KINDS]}::text[]) with ordinality as of (kind, place)
    left join last using (kind) left join good using (kind) left join alive using (kind)
    order by place`;
}

/** Runs that were stopped count neither way. */
async function countFailuresInARow(tx: TransactionSql): Promise<Figures["failedInARow"]> {
  return tx<Figures["failedInARow"]>`
    with recent as (
      (select id, 'sync' as command, status from sync.runs
       where kind <> 'watch' and kind <> 'quarantine' order by id desc limit ${SYNCS})
      union all
      (select id, 'watch', status from sync.runs where kind = 'watch' order by id desc limit ${ROUNDS})
    ),
    good as (
      select command, max(id) as id from recent where status in ('succeeded', 'partial') group by command
    )
    select of.command, count(recent.id) as runs
    from unnest(array['sync', 'watch']) as of (command)
    left join good on good.command = of.command
    left join recent on recent.command = of.command and recent.status = 'failed' and recent.id > coalesce(good.id, 0)
    group by of.command`;
}

async function findArrivals(tx: TransactionSql): Promise<Figures["arrivals"]> {
  const [row] = await tx<Figures["arrivals"][]>`
    select case when state_now <> 'unknown' then state_now = 'quiet' end as "isQuiet",
      extract(epoch from last_build_at)::float8 as "lastBuildAt"
    from report.arrivals`;
  return row ?? { isQuiet: null, lastBuildAt: null };
}

async function findLead(
  tx: TransactionSql,
  isWorker: boolean,
): Promise<Pick<Figures, "hasLeader" | "isLeader">> {
  const leader = await findLeader(tx);
  // The sessions of a process end their names with its own.
  const [facts] = await tx<{ everLed: boolean; isOurs: boolean }[]>`
    select exists (select from sync.leader) as "everLed",
      right(current_setting('application_name'), ${(leader?.instance.length ?? 0) + 1}::int) = ${`#${leader?.instance}`} as "isOurs"`;
  const isOurs = leader !== null && facts?.isOurs === true;
  return { hasLeader: facts?.everLed === true ? leader !== null : null, isLeader: isWorker ? isOurs : null };
}

async function countNotices(tx: TransactionSql): Promise<Figures["notices"]> {
  const [row] = await tx<Figures["notices"][]>`
    select count(*) filter (where delivered_at is null and given_up_at is null) as waiting,
      extract(epoch from min(noted_at) filter (where delivered_at is null and given_up_at is null))::float8 as "oldestWaitingAt",
      count(given_up_at) as "givenUp"
    from sync.notices`;
  return row ?? { waiting: 0, oldestWaitingAt: null, givenUp: 0 };
}
