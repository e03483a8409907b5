import { asQuestion, columnsOf, type Question } from "../../report/question.ts";
import { statement } from "../parts/questions/statement.ts";

/** Builds in the strip, and in each page of it. */
export const STRIP_BUILDS = 30;
/** Days with counts. */
export const SHOWN_DAYS = 31;
/** Failures that are listed. */
export const MOST_FAILING = 25;
/** Versions and formats: at first, and all that one page can bear. */
export const FEW_SERIES = 10;
export const MOST_SERIES = 200;
const MOST_LINES = 200;
const SERIES_STRIP = 20;

/** Which builds of a project the strip has. */
export interface Only {
  readonly version: string | undefined;
  readonly type: string | undefined;
  /** What its builds call an unknown version. */
  readonly reference: string | undefined;
}

export interface ProjectChoice {
  /** The project, where several have the slug. */
  readonly id: string | undefined;
  readonly only: Only;
  /** The page of the strip. */
  readonly page: number;
  readonly isAllSeries: boolean;
}

/** A project, and what is its main documentation. */
export interface Subject {
  readonly id: string;
  readonly slug: string;
  /** The slug of its default version. */
  readonly mainVersion: string;
}

type Hold = (value: string | number) => string;

const NEWEST =
  "triggered_on desc nulls last, triggered_at desc nulls last, length(build_id) desc, build_id desc";
const newestOf = (column: string): string => `(array_agg(${column} order by ${NEWEST}))[1]`;

/** All questions about one project, for a page about the moment `at`. */
export function projectQuestions({ id, mainVersion }: Subject, choice: ProjectChoice, at: Date) {
  const moment = at.toISOString();
  const day = moment.slice(0, 10);
  const since = (hold: Hold, span: string) => `${hold(moment)}::timestamptz - interval '${span}'`;
  const own = (hold: Hold) => `project_id = ${hold(id)}`;
  const isMain = (hold: Hold) => `version_slug = ${hold(mainVersion)} and type = 'html'`;
  return {
    totals: statement(
      "success_rate_by_project",
      (hold) => `select total.builds, total.finished, total.succeeded, total.first_triggered_at, weeks.*
from report.success_rate_by_project as total
cross join (
  select count(*) filter (where triggered_at > ${since(hold, "7 days")}) as week,
    count(*) filter (where triggered_at <= ${since(hold, "7 days")}) as week_before
  from report.fact_builds
  where ${own(hold)} and triggered_on >= ${hold(day)}::date - 15 and triggered_at > ${since(hold, "14 days")}
) as weeks
where total.${own(hold)}`,
    ),
    /** How many builds the strip is taken from. */
    chosen: statement("fact_builds", (hold) => {
      const conditions = onlyConditions(choice.only, hold);
      if (conditions.length === 0)
        return `select builds from report.success_rate_by_project where ${own(hold)}`;
      return `select count(*) as builds from report.fact_builds where ${[own(hold), ...conditions].join(" and ")}`;
    }),
    /** The builds whose rate is shown, and those before them. */
    recent: statement(
      "fact_builds",
      (hold) => `select outcome, finished_before is not null and duration_s_max is null as is_untimed
from report.fact_builds
where ${own(hold)}
order by ${NEWEST}
limit ${2 * STRIP_BUILDS}`,
    ),
    /** The last finished build of the main documentation. */
    main: statement(
      "fact_builds",
      (hold) => `select build_id, outcome, triggered_at
from report.fact_builds
where ${own(hold)} and ${isMain(hold)} and succeeded is not null
  and version_id in (select version_id from report.dim_versions where not is_deleted)
order by ${NEWEST}
limit 1`,
    ),
    builds: statement(
      "fact_builds",
      (hold) => `select build_id, version_slug, type, outcome, triggered_at, error_class
from report.fact_builds
where ${[own(hold), ...onlyConditions(choice.only, hold)].join(" and ")}
order by ${NEWEST}
limit ${STRIP_BUILDS} offset ${hold((choice.page - 1) * STRIP_BUILDS)}`,
    ),
    failing: statement(
      "failing_now",
      (
        hold,
      ) => `select ${columnsOf("failing_now").join(", ")}, count(*) over () as total, min(failing_since) over () as oldest
from report.failing_now
where ${own(hold)}
order by is_main desc, failing_since desc nulls last, version_slug, version_id, type, reference
limit ${MOST_FAILING}`,
    ),
    causes: statement(
      "fact_builds",
      (
        hold,
      ) => `select error_class, error_fingerprint, count(*) as failures, max(triggered_at) as last_triggered_at,
  ${newestOf("build_id")} as last_build_id,
  ${newestOf("output_excerpt")} as example,
  sum(count(*)) over (partition by error_class) as class_failures,
  count(*) over (partition by error_class) as class_lines,
  sum(count(*)) over () as all_failures
from report.fact_builds
where ${own(hold)} and failed = 1
group by error_class, error_fingerprint
order by class_failures desc, error_class, failures desc, last_triggered_at desc nulls last, error_fingerprint
limit ${MOST_LINES}`,
    ),
    series: statement(
      "fact_builds",
      (hold) => `select series.*, version.version_slug, version.is_deleted, version.is_active,
  failing.first_failed_build_id is not null as is_failing, count(*) over () as total,
  version.version_slug = ${hold(mainVersion)} and series.type = 'html' and not version.is_deleted as is_main
from (
  select version_id, type, reference, count(*) as builds, count(succeeded) as finished,
    coalesce(sum(succeeded), 0) as succeeded, max(triggered_at) as last_triggered_at
  from report.fact_builds
  where ${own(hold)}
  group by version_id, type, reference
) as series
left join report.dim_versions as version on version.version_id = series.version_id
left join report.failing_now as failing on failing.project_id = ${hold(id)} and failing.version_id = series.version_id
  and failing.type = series.type and failing.reference is not distinct from series.reference
order by is_main desc nulls last, is_failing desc, series.last_triggered_at desc nulls last, version.version_slug, series.version_id, series.type, series.reference
limit ${choice.isAllSeries ? MOST_SERIES : FEW_SERIES}`,
    ),
    days: statement(
      "success_rate_daily_by_project",
      (hold) => `select day, succeeded, failed, unfinished
from report.success_rate_daily_by_project
where ${own(hold)} and day > ${hold(day)}::date - ${SHOWN_DAYS} and day <= ${hold(day)}::date
order by day`,
    ),
    fixed: statement(
      "recoveries",
      (
        hold,
      ) => `select version_slug, type, failed_at, recovered_at, recovered_build_id, failures, error_class, count(*) over () as total
from report.recoveries
where ${own(hold)} and not is_open
order by recovered_at desc nulls last, first_failed_build_id desc
limit 5`,
    ),
    times: statement(
      "fact_builds",
      (hold) => `select build_id, outcome, duration_s_min, duration_s_max
from report.fact_builds
where ${own(hold)} and finished_before is not null and duration_s_max is not null
order by ${NEWEST}
limit 6`,
    ),
    open: statement(
      "open_builds",
      (hold) => `select build_id, outcome, triggered_at, count(*) over () as total,
  count(*) filter (where outcome = 'stuck') over () as stuck
from report.open_builds
where ${own(hold)}
order by triggered_at desc nulls last, build_id desc
limit 1`,
    ),
  } satisfies Record<string, Question>;
}

function onlyConditions({ version, type, reference }: Only, hold: Hold): string[] {
  return [
    ...(version === undefined ? [] : [`version_slug = ${hold(version)}`]),
    ...(type === undefined ? [] : [`type = ${hold(type)}`]),
    ...(reference === undefined ? [] : [`reference = ${hold(reference)}`]),
  ];
}

/** A series of a project: what its strip is found by. */
export interface SeriesOf {
  readonly version_id: string;
  readonly type: string;
  readonly reference: string | null;
}

/** The last outcomes of each series, the oldest first. `place` is that of the series in the list. */
export function askForSeriesStrips(projectId: string, series: readonly SeriesOf[]): Question {
  const text = `select shown.place, last.outcomes
from json_to_recordset($2::text::json) as shown (place int, version_id text, type text, reference text)
cross join lateral (
  select array_agg(outcome order by place desc) as outcomes
  from (
    select outcome, row_number() over (order by ${NEWEST}) as place
    from report.fact_builds as build
    where build.project_id = $1 and build.version_id = shown.version_id and build.type = shown.type
      and build.reference is not distinct from shown.reference
    order by ${NEWEST}
    limit ${SERIES_STRIP}
  ) as newest
) as last`;
  const shown = series.map(({ version_id, type, reference }, place) => ({
    place,
    version_id,
    type,
    reference,
  }));
  return asQuestion("fact_builds", [], text, [projectId, JSON.stringify(shown)]);
}

/** All names of versions of a project. */
export function askForVersionNames(projectId: string): Question {
  return statement(
    "dim_versions",
    (hold) => `select distinct version_slug
from report.dim_versions
where project_id = ${hold(projectId)}
order by version_slug
limit 2000`,
  );
}
