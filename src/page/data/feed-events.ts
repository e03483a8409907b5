import type { TransactionSql } from "../../store/connection/sql.ts";

/** A series of builds that broke or was fixed. */
export interface FeedEvent {
  readonly kind: "broke" | "fixed";
  /** The first build that failed, or the one that succeeded again. */
  readonly build_id: string;
  /** When that build was triggered. */
  readonly at: string;
  readonly project_slug: string;
  readonly version_slug: string;
  readonly type: string;
  /** The failures in a row, so far. */
  readonly failures: number;
  readonly failed_at: string | null;
  /** The error line of a build that failed. */
  readonly error_line: string | null;
}

const MOST_EVENTS = 50;

/**
 * The newest breaks and fixes, newest first, of one project or of all that the service still has. Dates
 * beyond tomorrow come from a wrong clock and are left out.
 */
export async function findFeedEvents(tx: TransactionSql, project?: string): Promise<readonly FeedEvent[]> {
  const isShown = tx`
    ${project === undefined ? tx`true` : tx`streak.project_slug = ${project}`}
    and not exists (
      select from report.dim_projects as gone where gone.project_id = streak.project_id and gone.is_deleted
    )`;
  return tx<FeedEvent[]>`
    select event.*, failed.error_line
    from (
      (select 'broke' as kind, first_failed_build_id as build_id, failed_at as at,
         project_slug, version_slug, type, failures, failed_at
       from report.recoveries as streak
       where failed_at < now() + interval '1 day' and ${isShown}
       order by failed_at desc limit ${MOST_EVENTS})
      union all
      (select 'fixed', recovered_build_id, recovered_at, project_slug, version_slug, type, failures, failed_at
       from report.recoveries as streak
       where recovered_at < now() + interval '1 day' and ${isShown}
       order by recovered_at desc limit ${MOST_EVENTS})
    ) as event
    left join report.fact_builds as failed on failed.build_id = event.build_id and event.kind = 'broke'
    order by event.at desc, length(event.build_id) desc, event.build_id desc, event.kind
    limit ${MOST_EVENTS}`;
}

/** Whether the mirror has a project of that slug, perhaps a deleted one. */
export async function hasProject(tx: TransactionSql, slug: string): Promise<boolean> {
  // No text of Postgres has this character.
  if (slug.includes("\0")) return false;
  const found = await tx`select from report.dim_projects where project_slug = ${slug} limit 1`;
  return found.length > 0;
}

/** When the figures were computed last; null when they never were. */
export async function findRefreshed(tx: TransactionSql): Promise<string | null> {
  const [row] = await tx<{ at: string | null }[]>`select max(refreshed_at) as at from report.freshness`;
  return row?.at ?? null;
}
