import type { TransactionSql } from "../../store/connection/sql.ts";

export interface BadgeFacts {
  /** Whether the last finished build of the main docs succeeded; null when there is none. */
  readonly isPassing: boolean | null;
  /** Finished builds of the last 90 days, of all versions and types. */
  readonly finished: number;
  readonly succeeded: number;
}

/**
 * The state of a project's main docs, which are the HTML of its default version. Undefined when the mirror has
 * no such project, or only a deleted one.
 */
export async function findBadgeFacts(tx: TransactionSql, slug: string): Promise<BadgeFacts | undefined> {
  // No text of Postgres has this character.
  if (slug.includes("\0")) return undefined;
  const [row] = await tx<{ is_passing: boolean | null; finished: number; succeeded: number }[]>`
    select main.is_passing, coalesce(days.finished, 0)::float8 as finished, coalesce(days.succeeded, 0)::float8 as succeeded
    from report.dim_projects as project
    left join lateral (
      select build.succeeded = 1 as is_passing
      from report.dim_versions as version
      join report.fact_builds as build on build.project_id = project.project_id and build.version_id = version.version_id
      where version.project_id = project.project_id and version.version_slug = project.default_version
        and not version.is_deleted and build.type = 'html' and build.succeeded is not null
        and (build.triggered_at is null or build.triggered_at < now() + interval '1 day')
      order by build.triggered_at desc nulls last, length(build.build_id) desc, build.build_id desc
      limit 1
    ) as main on true
    cross join lateral (
      select sum(day.finished) as finished, sum(day.succeeded) as succeeded
      from report.success_rate_daily_by_project as day
      where day.project_id = project.project_id and day.day > (now() at time zone 'utc')::date - 90
        and day.day <= (now() at time zone 'utc')::date
    ) as days
    where project.project_slug = ${slug} and not project.is_deleted
    order by length(project.project_id) desc, project.project_id desc
    limit 1`;
  return row && { isPassing: row.is_passing, finished: row.finished, succeeded: row.succeeded };
}
