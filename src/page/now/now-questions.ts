import { askFor, asQuestion, columnsOf, type Question } from "../../report/question.ts";
import { statement } from "../parts/questions/statement.ts";

/** The rows of a page of the list. */
export const FAILING_PER_PAGE = 25;
/** Builds of a series in its strip. */
const STRIP_BUILDS = 20;
/** Failures of a project that are folded below its newest break. */
const MOST_FOLDED = 20;

/** Which projects of `report.failing_projects` are listed. */
export const SHOWN = {
  main: { label: "Main docs", condition: "is_main_failing" },
  worked: { label: "Worked before", condition: "worked_before" },
  never: { label: "Never succeeded", condition: "not worked_before" },
} as const;

export type Shown = keyof typeof SHOWN;

export interface NowChoice {
  readonly show: Shown | undefined;
  /** An error class. */
  readonly why: string | undefined;
  readonly page: number;
}

/** All questions of the page of now, about the 24 hours and 28 days up to `at`. */
export function nowQuestions({ show, why, page }: NowChoice, at: Date) {
  const moment = at.toISOString();
  const held = (hold: (value: string) => string) => `${hold(moment)}::timestamptz`;
  const since = (hold: (value: string) => string, span: string) => `${held(hold)} - interval '${span}'`;
  return {
    broke: statement(
      "recoveries",
      (hold) => `select floor(extract(epoch from ${held(hold)} - failed_at) / 86400)::int as days_before,
  count(distinct project_id) as broke,
  count(distinct project_id) filter (where is_open) as still_failing
from report.recoveries
where failed_at > ${since(hold, "29 days")} and failed_at <= ${held(hold)}
group by days_before
order by days_before`,
    ),
    totals: statement(
      "freshness",
      () => `select (select count(*) from report.dim_projects where not is_deleted and project_id <> '-1') as projects,
  (select sum(finished) from report.success_rate_by_type) as finished,
  (select min(day) from report.dim_dates) as first_day`,
    ),
    failing: statement(
      "failing_projects",
      (hold) => `select error_class, count(*) as projects,
  count(*) filter (where is_main_failing) as main,
  count(*) filter (where worked_before) as worked,
  count(*) filter (where failing_since > ${since(hold, "24 hours")}) as lately
from report.failing_projects
group by error_class
order by projects desc, error_class`,
    ),
    newest: askFor("failing_projects", { limit: 1 }),
    list: statement("failing_projects", (hold) => {
      const conditions = [
        ...(show === undefined ? [] : [SHOWN[show].condition]),
        ...(why === undefined ? [] : [`error_class = ${hold(why)}`]),
      ];
      const where = conditions.length === 0 ? "" : `\nwhere ${conditions.join("\n  and ")}`;
      return `select *
from report.failing_projects${where}
order by failing_since desc nulls last, project_slug, project_id
limit ${FAILING_PER_PAGE} offset ${hold((page - 1) * FAILING_PER_PAGE)}`;
    }),
    kinds: statement(
      "fact_builds",
      (hold) => `select error_class,
  count(*) filter (where triggered_at > ${since(hold, "24 hours")}) as failures,
  count(*) filter (where triggered_at <= ${since(hold, "24 hours")}) / 28.0 as usual
from report.fact_builds
where failed = 1
  and triggered_on >= (${since(hold, "29 days")})::date
  and triggered_at > ${since(hold, "29 days")} and triggered_at <= ${held(hold)}
group by error_class
order by failures desc, usual desc, error_class`,
    ),
    rates: statement(
      "fact_builds",
      (hold) => `select triggered_at > ${since(hold, "24 hours")} as is_last_day,
  count(succeeded) as finished, sum(succeeded) as succeeded
from report.fact_builds
where triggered_on >= (${since(hold, "8 days")})::date
  and triggered_at > ${since(hold, "8 days")} and triggered_at <= ${held(hold)}
group by is_last_day`,
    ),
    days: statement(
      "success_rate_daily",
      (hold) => `select day, finished, succeeded, success_rate
from report.success_rate_daily
where day > ${hold(moment.slice(0, 10))}::date - 31 and day <= ${hold(moment.slice(0, 10))}::date
order by day`,
    ),
    hours: statement(
      "incident_hours",
      (hold) => `select count(*) as looked_at
from (
  select date_trunc('hour', triggered_at)
  from report.fact_builds
  where succeeded is not null and project_id <> '-1'
    and triggered_on >= (${since(hold, "4 hours")})::date
    and triggered_at >= date_trunc('hour', ${held(hold)}) - interval '3 hours' and triggered_at <= ${held(hold)}
  group by 1
  having count(distinct project_id) >= 8
) as hour`,
    ),
    incidents: statement(
      "incident_hours",
      (hold) => `select hour, projects, projects_failing, projects_expected
from report.incident_hours
where hour >= date_trunc('hour', ${held(hold)}) - interval '3 hours' and hour <= ${held(hold)}
order by hour desc
limit 1`,
    ),
    open: statement(
      "open_builds",
      () => `select build_id, project_slug, version_slug, type, state, outcome, triggered_at, last_seen_at
from report.open_builds
order by triggered_at desc nulls last, build_id desc
limit 5`,
    ),
    openCounts: statement(
      "open_builds",
      (hold) => `select count(*) as builds,
  count(*) filter (where outcome = 'stuck') as stuck,
  count(*) filter (where outcome = 'stuck' and triggered_at > ${since(hold, "24 hours")}) as lately,
  min(triggered_at) filter (where outcome = 'stuck') as oldest
from report.open_builds`,
    ),
    fixed: statement(
      "recoveries",
      (
        hold,
      ) => `select project_id, project_slug, version_slug, type, recovered_at, recovered_build_id, failed_at, failures, error_class
from report.recoveries
where recovered_at > ${since(hold, "24 hours")} and recovered_at <= ${held(hold)}
order by recovered_at desc, first_failed_build_id
limit 100`,
    ),
    fixedCounts: statement(
      "recoveries",
      (hold) => `select count(*) as series, count(distinct project_id) as projects
from report.recoveries
where recovered_at > ${since(hold, "24 hours")} and recovered_at <= ${held(hold)}`,
    ),
  } satisfies Record<string, Question>;
}

/** A series of a row: what its strip and its folded failures are found by. */
export interface SeriesKey {
  readonly project_id: string;
  readonly version_id: string;
  readonly type: string;
  readonly first_failed_build_id: string;
}

const SERIES_OF = `json_to_recordset($1::text::json) as shown (project_id text, version_id text, type text, first_failed_build_id text)`;

/** The last outcomes of each series, the oldest first, in one row each. */
export function askForStrips(series: readonly SeriesKey[]): Question {
  const text = `select shown.project_id, last.outcomes
from ${SERIES_OF}
cross join lateral (
  select array_agg(outcome order by place desc) as outcomes
  from (
    select outcome, row_number() over (order by triggered_at desc nulls last, length(build_id) desc, build_id desc) as place
    from report.fact_builds as build
    where build.project_id = shown.project_id and build.version_id = shown.version_id and build.type = shown.type
    order by triggered_at desc nulls last, length(build_id) desc, build_id desc
    limit ${STRIP_BUILDS}
  ) as newest
) as last`;
  return asQuestion("fact_builds", [], text, [JSON.stringify(series)]);
}

/** What else fails in the projects of these series, the newest break first. */
export function askForOthers(series: readonly SeriesKey[]): Question {
  const columns = columnsOf("failing_now");
  const text = `select ${columns.map((column) => `other.${column}`).join(", ")}
from ${SERIES_OF}
cross join lateral (
  select * from report.failing_now as failing
  where failing.project_id = shown.project_id
    and failing.first_failed_build_id <> shown.first_failed_build_id
  order by failing_since desc nulls last, version_slug, type
  limit ${MOST_FOLDED}
) as other`;
  return asQuestion("failing_now", columns, text, [JSON.stringify(series)]);
}
