import type { Sql } from "../db/connect.ts";
import type { RunKind, RunStatus, WalkVerdict } from "../db/schema/runs.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";

export interface ResourceFreshness {
  resource: Resource;
  /** When the newest whole (or head) walk ended, and how; null when there is none. */
  last_good_at: string | null;
  walk: WalkVerdict | null;
  /** Rows that upstream still has. */
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
  /** Those among them that were older than `stuckAfterMs` when they were last seen. */
  stuck: number;
  /** Those among them whose detail is gone, and which no whole walk has missed yet. */
  vanished: number;
  oldest: string | null;
}

export interface MirrorStatus {
  /** When the newest sync that succeeded ended; null when none did. */
  last_good_sync_at: string | null;
  resources: ResourceFreshness[];
  /** The newest syncs. */
  runs: RunRow[];
  /** The newest round of the watch; null when there was none. */
  last_watch_round: RunRow | null;
  open_builds: OpenBuilds[];
  /** Records put aside and not yet stored. */
  quarantined: number;
  unresolved_references: number;
}

export interface StatusOptions {
  now: Date;
  stuckAfterMs: number;
  sourceTimezone: string;
  /** Runs listed. @default 10 */
  runs?: number;
}

/** What `docmirror status` tells: how fresh the mirror is, how the last runs went, and which builds are open. */
export async function findStatus(sql: Sql, options: StatusOptions): Promise<MirrorStatus> {
  const [good] = await sql<{ at: string | null }[]>`
    select max(finished_at) as at from sync.runs where kind <> 'watch' and status = 'succeeded'`;
  const walks = await sql<{ resource: Resource; at: string; walk: WalkVerdict }[]>`
    select newest.* from unnest(${[...RESOURCES]}::text[]) as of (name)
    cross join lateral (
      select resource, finished_at as at, walk from sync.walks
      where resource = of.name and walk in ('whole', 'head') order by run_id desc limit 1
    ) as newest`;
  const columns = sql`id as run_id, kind, status, started_at, finished_at, requests, error`;
  const runs = await sql<RunRow[]>`
    select ${columns} from sync.runs where kind <> 'watch' order by id desc limit ${options.runs ?? 10}`;
  const [round] = await sql<RunRow[]>`
    select ${columns} from sync.runs where kind = 'watch' order by id desc limit 1`;
  // As in the reports: how old it was when it was last seen open. What became of it since is not known.
  const stuckAfterS = options.stuckAfterMs / 1000;
  const openBuilds = await sql<OpenBuilds[]>`
    select build.state, count(*) as open,
      count(*) filter (where extract(epoch from coalesce(open.seen_at, build.changed_at)
        - least(build.date at time zone ${options.sourceTimezone}, build.first_seen_at)) > ${stuckAfterS}::float8) as stuck,
      count(*) filter (where open.vanished_at is not null) as vanished,
      min(build.date) as oldest
    from mirror.builds as build left join sync.open_builds as open on open.build_id = build.id
    where build.state is distinct from 'finished' and build.deleted_at is null
    group by build.state order by open desc`;
  const resources = await Promise.all(
    RESOURCES.map(async (resource): Promise<ResourceFreshness> => {
      const [count] = await sql.unsafe<{ rows: number }[]>(
        `select count(*) as rows from mirror.${resource}s where deleted_at is null`,
      );
      const walk = walks.find((one) => one.resource === resource);
      return {
        resource,
        last_good_at: walk?.at ?? null,
        walk: walk?.walk ?? null,
        rows: count?.rows ?? 0,
      };
    }),
  );
  const [left] = await sql<{ quarantined: number; unresolved: number }[]>`
    select (select count(*) from sync.quarantine where resolved_at is null) as quarantined,
      (select count(*) from mirror.unresolved_references) as unresolved`;
  return {
    last_good_sync_at: good?.at ?? null,
    resources,
    runs: [...runs],
    last_watch_round: round ?? null,
    open_builds: [...openBuilds],
    quarantined: left?.quarantined ?? 0,
    unresolved_references: left?.unresolved ?? 0,
  };
}
