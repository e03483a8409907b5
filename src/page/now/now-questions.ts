import { type SQL, sql } from "drizzle-orm";
import { ask, askFor, onPage } from "../../report/ask.ts";
import { columnsOf } from "../../report/dictionary.ts";
import type { Question } from "../../report/question.ts";
import { inline, pick, relation, where } from "../../report/relation.ts";
import type { BlockQuestions } from "../parts/offers.ts";
import { askForRising } from "../parts/questions/rising-question.ts";

const build = relation("fact_builds");
const byType = relation("success_rate_by_type");
const daily = relation("success_rate_daily");
const date = relation("dim_dates");
const failing = relation("failing_projects");
const incident = relation("incident_hours");
const open = relation("open_builds");
const project = relation("dim_projects");
const streak = relation("recoveries");
const walk = relation("walks");

/** The rows of a page of the list. */
export const FAILING_PER_PAGE = 25;
/** Builds of a series in its strip. */
const STRIP_BUILDS = 20;
/** Failures of a project that are folded below its newest break. */
const MOST_FOLDED = 20;

/** Which projects of `report.failing_projects` are listed. */
export const SHOWN = {
  main: { label: "Main docs", condition: failing.is_main_failing },
  worked: { label: "Worked before", condition: failing.worked_before },
  never: { label: "Never succeeded", condition: sql`not ${failing.worked_before}` },
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
  const now = sql`${at.toISOString()}::timestamptz`;
  const today = sql`${at.toISOString().slice(0, 10)}::date`;
  const ago = (span: string) => sql`${now} - interval ${sql.raw(`'${span}'`)}`;
  const since = (column: SQL, span: string) => sql`${column} > ${ago(span)} and ${column} <= ${now}`;
  return {
    broke: ask("recoveries")`
select floor(extract(epoch from ${now} - ${streak.failed_at}) / 86400)::int as days_before,
  count(distinct ${streak.project_id}) as broke,
  count(distinct ${streak.project_id}) filter (where ${streak.is_open}) as still_failing
from ${streak}
where ${since(streak.failed_at, "29 days")}
group by days_before
order by days_before`,
    totals: ask("freshness")`
select (select count(*) from ${project} where not ${project.is_deleted} and ${project.project_id} <> '-1') as projects,
  (select sum(${byType.finished}) from ${byType}) as finished,
  (select min(${date.day}) from ${date}) as first_day`,
    failing: ask("failing_projects")`
select ${failing.error_class}, count(*) as projects,
  count(*) filter (where ${failing.is_main_failing}) as main,
  count(*) filter (where ${failing.worked_before}) as worked,
  count(*) filter (where ${failing.failing_since} > ${ago("24 hours")}) as lately
from ${failing}
group by ${failing.error_class}
order by projects desc, ${failing.error_class}`,
    newest: askFor("failing_projects", { limit: 1 }),
    list: ask("failing_projects")`
select *
from ${failing}${where(show !== undefined && SHOWN[show].condition, why !== undefined && sql`${failing.error_class} = ${why}`)}
order by ${failing.failing_since} desc nulls last, ${pick(failing, "project_slug", "project_id")}${onPage`
limit ${inline(FAILING_PER_PAGE)} offset ${(page - 1) * FAILING_PER_PAGE}`}`,
    kinds: ask("fact_builds")`
select ${build.error_class},
  count(*) filter (where ${build.triggered_at} > ${ago("24 hours")}) as failures,
  count(*) filter (where ${build.triggered_at} <= ${ago("24 hours")}) / 28.0 as usual
from ${build}
where ${build.failed} = 1
  and ${build.triggered_on} >= (${ago("29 days")})::date
  and ${since(build.triggered_at, "29 days")}
group by ${build.error_class}
having count(*) filter (where ${build.triggered_at} > ${ago("24 hours")}) > 0
order by failures desc, usual desc, ${build.error_class}`,
    rising: askForRising(at),
    rates: ask("fact_builds")`
select ${build.triggered_at} > ${ago("24 hours")} as is_last_day,
  count(${build.succeeded}) as finished, sum(${build.succeeded}) as succeeded
from ${build}
where ${build.triggered_on} >= (${ago("8 days")})::date
  and ${since(build.triggered_at, "8 days")}
group by is_last_day`,
    days: ask("success_rate_daily")`
select ${pick(daily, "day", "finished", "succeeded", "success_rate")}
from ${daily}
where ${daily.day} > ${today} - 31 and ${daily.day} <= ${today}
order by ${daily.day}`,
    hours: ask("incident_hours")`
select count(*) as looked_at
from (
  select date_trunc('hour', ${build.triggered_at})
  from ${build}
  where ${build.succeeded} is not null and ${build.project_id} <> '-1'
    and ${build.triggered_on} >= (${ago("4 hours")})::date
    and ${build.triggered_at} >= date_trunc('hour', ${now}) - interval '3 hours' and ${build.triggered_at} <= ${now}
  group by 1
  having count(distinct ${build.project_id}) >= 8
) as hour`,
    incidents: ask("incident_hours")`
select ${pick(incident, "hour", "projects", "projects_failing", "projects_expected")}
from ${incident}
where ${incident.hour} >= date_trunc('hour', ${now}) - interval '3 hours' and ${incident.hour} <= ${now}
order by ${incident.hour} desc
limit 1`,
    arrivals: askFor("arrivals"),
    open: ask("open_builds")`
select ${pick(open, "build_id", "project_slug", "version_slug", "type", "state", "outcome", "triggered_at", "last_seen_at")}
from ${open}
order by ${open.triggered_at} desc nulls last, ${open.build_id} desc${onPage`\nlimit 5`}`,
    openCounts: ask("open_builds")`
select count(*) as builds,
  count(*) filter (where ${open.outcome} = 'stuck') as stuck,
  count(*) filter (where ${open.outcome} = 'stuck' and ${open.triggered_at} > ${ago("24 hours")}) as lately,
  min(${open.triggered_at}) filter (where ${open.outcome} = 'stuck') as oldest
from ${open}`,
    fixed: ask("recoveries")`
select ${pick(streak, "project_id", "project_slug", "version_slug", "type", "recovered_at", "recovered_build_id", "failed_at", "failures", "error_class")}
from ${streak}
where ${since(streak.recovered_at, "24 hours")}
order by ${streak.recovered_at} desc, ${streak.first_failed_build_id}${onPage`\nlimit 100`}`,
    fixedCounts: ask("recoveries")`
select count(*) as series, count(distinct ${streak.project_id}) as projects
from ${streak}
where ${since(streak.recovered_at, "24 hours")}`,
  } satisfies Record<string, Question>;
}

/** How often the mirror looked for builds since a moment, and how many the service counts. */
export function askForLooks(since: Date): Question {
  return ask("walks")`
select count(*) as looks, count(*) filter (where not ${walk.is_good}) as not_whole,
  (array_agg(${walk.total_count} order by ${walk.run_id} desc) filter (where ${walk.total_count} is not null))[1] as total_count
from ${walk}
where ${walk.resource} = 'build' and ${walk.finished_at} is not null and ${walk.started_at} > ${since.toISOString()}::timestamptz`;
}

/** The blocks with files. */
export const nowBlocks = ({ list, kinds, open, fixed }: ReturnType<typeof nowQuestions>) =>
  ({
    arrivals: askFor("arrivals_hourly", { limit: 24 }),
    failing: list,
    why: kinds,
    stuck: open,
    fixed,
  }) satisfies BlockQuestions;

export const NOW_FILES = {
  arrivals: {},
  failing: { show: Object.keys(SHOWN), why: null },
  why: {},
  stuck: {},
  fixed: {},
};

/** A series of a row: what its strip and its folded failures are found by. */
export interface SeriesKey {
  readonly project_id: string;
  readonly version_id: string;
  readonly type: string;
  readonly first_failed_build_id: string;
}

/** These series as a table `shown`. */
const shown = (series: readonly SeriesKey[]): SQL =>
  sql`json_to_recordset(${JSON.stringify(series)}::text::json) as shown (project_id text, version_id text, type text, first_failed_build_id text)`;

/** The last outcomes of each series, the oldest first, in one row each. */
export function askForStrips(series: readonly SeriesKey[]): Question {
  const newest = sql`${build.triggered_at} desc nulls last, length(${build.build_id}) desc, ${build.build_id} desc`;
  const own = relation("fact_builds", "build");
  return ask("fact_builds")`
select shown.project_id, last.outcomes
from ${shown(series)}
cross join lateral (
  select array_agg(${build.outcome} order by place desc) as outcomes
  from (
    select ${build.outcome}, row_number() over (order by ${newest}) as place
    from ${own}
    where ${own.project_id} = shown.project_id and ${own.version_id} = shown.version_id and ${own.type} = shown.type
    order by ${newest}
    limit ${inline(STRIP_BUILDS)}
  ) as newest
) as last`;
}

/** What else fails in the projects of these series, the newest break first. */
export function askForOthers(series: readonly SeriesKey[]): Question {
  const failing = relation("failing_now", "failing");
  return ask("failing_now")`
select ${pick(relation("failing_now", "other"), ...columnsOf("failing_now"))}
from ${shown(series)}
cross join lateral (
  select * from ${failing}
  where ${failing.project_id} = shown.project_id
    and ${failing.first_failed_build_id} <> shown.first_failed_build_id
  order by failing_since desc nulls last, version_slug, type
  limit ${inline(MOST_FOLDED)}
) as other`;
}
