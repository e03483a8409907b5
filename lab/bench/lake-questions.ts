/** One statement for all engines: `builds` is what to select from, `recent` the condition for the last 90 days. */
export interface LakeQuestion {
  name: string;
  title: string;
  text(builds: string, recent: string): string;
}

export const LAKE_QUESTIONS: readonly LakeQuestion[] = [
  {
    name: "months",
    title: "success by month",
    text: (builds) => `
      select triggered_month, count(succeeded) as finished, cast(sum(succeeded) as bigint) as succeeded
      from ${builds} group by triggered_month`,
  },
  {
    name: "projects",
    title: "the 20 projects that fail most",
    text: (builds) => `
      select project_id, count(succeeded) as finished, cast(sum(failed) as bigint) as failures
      from ${builds} group by project_id order by failures desc, project_id limit 20`,
  },
  {
    name: "failing",
    title: "failing now, by class",
    text: (builds) => `
      select error_class, count(*) as series
      from (
        select error_class, failed, row_number() over (
          partition by project_id, version_id, type order by triggered_at desc nulls last, build_id desc
        ) as nth_last
        from ${builds} where succeeded is not null
      ) as build
      where nth_last = 1 and failed = 1 group by error_class`,
  },
  {
    name: "errors",
    title: "error classes of 90 days",
    text: (builds, recent) => `
      select error_class, error_fingerprint, count(*) as failures, count(distinct project_id) as projects
      from ${builds} where failed = 1 and ${recent}
      group by error_class, error_fingerprint order by failures desc, error_fingerprint limit 20`,
  },
  {
    name: "project",
    title: "one project's history",
    text: (builds) => `
      select triggered_month, count(*) as builds, count(succeeded) as finished, cast(sum(succeeded) as bigint) as succeeded
      from ${builds} where project_id = '17' group by triggered_month`,
  },
];
