import { isAhead } from "../clock.ts";
import type { Config } from "../config.ts";
import type { AnySql, Sql } from "../db/connect.ts";
import { describeOldest, findListFreshness, type ListFreshness, mirrorAgeMs } from "../db/list-freshness.ts";
import type { RunKind, RunStatus, WalkVerdict } from "../db/schema/runs.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import type { Resource } from "../wire/resources.ts";

export interface ResourceFreshness {
  resource: Resource;
  /** When the newest good walk ended: a whole one, or a head whose counts agree. Null when there is none. */
  last_good_at: string | null;
  walk: WalkVerdict | null;
  /** The number of rows that are not deleted. */
  rows: number;
}

export interface RunRow {
  run_id: number;
  kind: RunKind;
  status: RunStatus;
  started_at: string;
  finished_at: string | null;
  requests: number;
  error: string | null;
}

export interface OpenBuilds {
  state: string | null;
  open: number;
  /** How many of them were older than `stuckAfterMs` when they were last seen. */
  stuck: number;
  /** How many of them have vanished but are not deleted yet. */
  vanished: number;
  oldest: string | null;
}

export interface MirrorStatus {
  /**
   * The mirror is as fresh as its oldest list: the earliest `last_good_at` of all five. Null until all lists
   * were read well.
   */
  last_good_at: string | null;
  /**
   * The age of the mirror, in milliseconds. Null when it is unknown: a list was never read well, or a clock
   * was wrong.
   */
  age_ms: number | null;
  /** The list that decides the age, and why; for people. */
  oldest_list: { resource: Resource; why: string };
  /** Moments in the future, because a clock is or was wrong; for people. */
  clock_faults: string[];
  resources: ResourceFreshness[];
  /** The newest syncs. */
  runs: RunRow[];
  /** The newest round of the watch; null when there was none. */
  last_watch_round: RunRow | null;
  open_builds: OpenBuilds[];
  /** The number of unresolved records in quarantine. */
  quarantined: number;
  unresolved_references: number;
}

export interface StatusOptions extends Pick<Config, "stuckAfterMs" | "sourceTimezone"> {
  now: Date;
  /** The number of runs to list. @default 10 */
  runs?: number;
}

/**
 * What `docmirror status` shows: how fresh the mirror is, how the last runs went, and which builds are open.
 */
export async function findStatus(sql: Sql, options: StatusOptions): Promise<MirrorStatus> {
  const { now } = options;
  const lists = await findListFreshness(sql);
  const ageMs = mirrorAgeMs(lists, now);
  const columns = sql`id as run_id, kind, status, started_at, finished_at, requests, error`;
  const runs = await sql<RunRow[]>`
    select ${columns} from sync.runs where kind <> 'watch' order by id desc limit ${options.runs ?? 10}`;
  const [round] = await sql<RunRow[]>`
    select ${columns} from sync.runs where kind = 'watch' order by id desc limit 1`;
  const openBuilds = await findOpenBuilds(sql, options);
  const resources = await Promise.all(
    lists.map(async ({ resource, finishedAt, walk }): Promise<ResourceFreshness> => {
      const [count] = await sql.unsafe<{ rows: number }[]>(
        `select count(*) as rows from ${RECORD_TABLES[resource].name} where deleted_at is null`,
      );
      return { resource, last_good_at: finishedAt, walk, rows: count?.rows ?? 0 };
    }),
  );
  const [left] = await sql<{ quarantined: number; unresolved: number }[]>`
    select (select count(*) from sync.quarantine where resolved_at is null) as quarantined,
      (select count(*) from mirror.unresolved_references) as unresolved`;
  const isKnown = Number.isFinite(ageMs);
  return {
    last_good_at: lists.every(({ finishedAt }) => finishedAt !== null) ? oldestOf(lists) : null,
    age_ms: isKnown ? ageMs : null,
    oldest_list: describeOldest(lists, now),
    clock_faults: findClockFaults(resources, [...runs, ...(round ? [round] : [])], now),
    resources,
    runs: [...runs],
    last_watch_round: round ?? null,
    open_builds: openBuilds,
    quarantined: left?.quarantined ?? 0,
    unresolved_references: left?.unresolved ?? 0,
  };
}

/** The open builds by state, and how many of them are stuck. */
export async function findOpenBuilds(
  tx: AnySql,
  { stuckAfterMs, sourceTimezone }: Pick<StatusOptions, "stuckAfterMs" | "sourceTimezone">,
): Promise<OpenBuilds[]> {
  // As in the reports, the age is that of the last sighting, because the later state is not known.
  const stuckAfterS = stuckAfterMs / 1000;
  const rows = await tx<OpenBuilds[]>`
    select build.state, count(*) as open,
      count(*) filter (where extract(epoch from coalesce(open.seen_at, build.changed_at)
        - least(build.date at time zone ${sourceTimezone}, build.first_seen_at)) > ${stuckAfterS}::float8) as stuck,
      count(*) filter (where open.vanished_at is not null) as vanished,
      min(build.date) as oldest
    from mirror.builds as build left join sync.open_builds as open on open.build_id = build.id
    where build.state <> 'finished' and build.deleted_at is null
    group by build.state order by open desc`;
  return [...rows];
}

/** Postgres prints all moments in UTC, so sorting the texts sorts the moments. */
function oldestOf(lists: readonly ListFreshness[]): string | null {
  return lists.map(({ finishedAt }) => finishedAt).sort()[0] ?? null;
}

function findClockFaults(
  resources: readonly ResourceFreshness[],
  runs: readonly RunRow[],
  now: Date,
): string[] {
  const fault = "is in the future: a clock is or was wrong";
  return [
    ...runs
      .filter(({ started_at, finished_at }) => isAhead(started_at, now) || isAhead(finished_at, now))
      .map(({ run_id, started_at }) => `run ${run_id} began at ${started_at}, which ${fault}`),
    ...resources
      .filter(({ last_good_at }) => isAhead(last_good_at, now))
      .map(
        ({ resource, last_good_at }) =>
          `the ${resource} list was last read at ${last_good_at}, which ${fault}`,
      ),
  ];
}
