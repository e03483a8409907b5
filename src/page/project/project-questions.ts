import { type SQL, sql } from "drizzle-orm";
import { ask, askFor, onPage } from "../../report/ask.ts";
import { columnsOf } from "../../report/dictionary.ts";
import type { Question } from "../../report/question.ts";
import { inline, pick, relation } from "../../report/relation.ts";
import type { BlockQuestions } from "../parts/offers.ts";
import { isKnownTime } from "../parts/questions/known-times.ts";

const build = relation("fact_builds");
const daily = relation("success_rate_daily_by_project");
const failing = relation("failing_now");
const open = relation("open_builds");
const project = relation("dim_projects");
const rate = relation("success_rate_by_project");
const streak = relation("recoveries");
const version = relation("dim_versions");

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

const NEWEST = sql`${build.triggered_on} desc nulls last, ${build.triggered_at} desc nulls last, length(${build.build_id}) desc, ${build.build_id} desc`;
const newestOf = (column: SQL): SQL => sql`(array_agg(${column} order by ${NEWEST}))[1]`;

/** All questions about one project, for a page about the moment `at`. */
export function projectQuestions({ id, mainVersion }: Subject, choice: ProjectChoice, at: Date) {
  const today = sql`${at.toISOString().slice(0, 10)}::date`;
  const ago = (span: string) => sql`${at.toISOString()}::timestamptz - interval ${sql.raw(`'${span}'`)}`;
  const isOwn = sql`${build.project_id} = ${id}`;
  const only = onlyConditions(choice.only);
  const total = relation("success_rate_by_project", "total");
  const of = relation("dim_versions", "version");
  const ofSeries = sql`series.version_id, series.type, series.reference`;
  const broken = relation("failing_now", "failing");
  return {
    totals: ask("success_rate_by_project")`
select ${pick(total, "builds", "finished", "succeeded", "first_triggered_at")}, weeks.*
from ${total}
cross join (
  select count(*) filter (where ${build.triggered_at} > ${ago("7 days")}) as week,
    count(*) filter (where ${build.triggered_at} <= ${ago("7 days")}) as week_before
  from ${build}
  where ${isOwn} and ${build.triggered_on} >= ${today} - 15 and ${build.triggered_at} > ${ago("14 days")}
) as weeks
where ${total.project_id} = ${id}`,
    /** How many builds the strip is taken from. */
    chosen: ask("fact_builds")`
${
  only.length === 0
    ? sql`select ${rate.builds} from ${rate} where ${rate.project_id} = ${id}`
    : sql`select count(*) as builds from ${build} where ${all(isOwn, ...only)}`
}`,
    /** The builds whose rate is shown, and those before them. */
    recent: ask("fact_builds")`
select ${build.outcome}, ${build.finished_before} is not null and (${isKnownTime(build.duration_s_min, build.duration_s_max)}) is not true as is_untimed
from ${build}
where ${isOwn}
order by ${NEWEST}
limit ${inline(2 * STRIP_BUILDS)}`,
    /** The last finished build of the main documentation. */
    main: ask("fact_builds")`
select ${pick(build, "build_id", "outcome", "triggered_at")}
from ${build}
where ${isOwn} and ${build.version_slug} = ${mainVersion} and ${build.type} = 'html' and ${build.succeeded} is not null
  and ${build.version_id} in (select ${version.version_id} from ${version} where not ${version.is_deleted})
order by ${NEWEST}
limit 1`,
    builds: ask("fact_builds")`
select ${pick(build, "build_id", "version_slug", "type", "outcome", "triggered_at", "error_class")}
from ${build}
where ${all(isOwn, ...only)}
order by ${NEWEST}${onPage`
limit ${inline(STRIP_BUILDS)} offset ${(choice.page - 1) * STRIP_BUILDS}`}`,
    failing: ask("failing_now")`
select ${pick(failing, ...columnsOf("failing_now"))}${onPage`, count(*) over () as total, min(${failing.failing_since}) over () as oldest`}
from ${failing}
where ${failing.project_id} = ${id}
order by ${failing.is_main} desc, ${failing.failing_since} desc nulls last, ${pick(failing, "version_slug", "version_id", "type", "reference")}${onPage`
limit ${inline(MOST_FAILING)}`}`,
    causes: ask("fact_builds")`
select ${pick(build, "error_class", "error_line_id")}, count(*) as failures, max(${build.triggered_at}) as last_triggered_at,
  ${newestOf(build.build_id)} as last_build_id,
  ${newestOf(build.error_line)} as example, count(distinct ${build.error_line}) as places,
  sum(count(*)) over (partition by ${build.error_class}) as class_failures${onPage`,
  count(*) over (partition by ${build.error_class}) as class_lines,
  sum(count(*)) over () as all_failures`}
from ${build}
where ${isOwn} and ${build.failed} = 1
group by ${pick(build, "error_class", "error_line_id")}
order by class_failures desc, ${build.error_class}, failures desc, last_triggered_at desc nulls last, ${build.error_line_id}${onPage`
limit ${inline(MOST_LINES)}`}`,
    series: ask("fact_builds")`
select series.*, ${pick(of, "version_slug", "is_deleted", "is_active")},
  ${broken.first_failed_build_id} is not null as is_failing,${onPage` count(*) over () as total,`}
  ${of.version_slug} = ${mainVersion} and series.type = 'html' and not ${of.is_deleted} as is_main
from (
  select ${pick(build, "version_id", "type", "reference")}, count(*) as builds, count(${build.succeeded}) as finished,
    coalesce(sum(${build.succeeded}), 0) as succeeded, max(${build.triggered_at}) as last_triggered_at
  from ${build}
  where ${isOwn}
  group by ${pick(build, "version_id", "type", "reference")}
) as series
left join ${of} on ${of.version_id} = series.version_id
left join ${broken} on ${broken.project_id} = ${id} and ${broken.version_id} = series.version_id
  and ${broken.type} = series.type and ${broken.reference} is not distinct from series.reference
order by is_main desc nulls last, is_failing desc, series.last_triggered_at desc nulls last, ${of.version_slug}, ${ofSeries}${onPage`
limit ${inline(choice.isAllSeries ? MOST_SERIES : FEW_SERIES)}`}`,
    days: ask("success_rate_daily_by_project")`
select ${pick(daily, "day", "succeeded", "failed", "unfinished")}
from ${daily}
where ${daily.project_id} = ${id} and ${daily.day} > ${today} - ${inline(SHOWN_DAYS)} and ${daily.day} <= ${today}
order by ${daily.day}`,
    fixed: ask("recoveries")`
select ${pick(streak, "version_slug", "type", "failed_at", "recovered_at", "recovered_build_id", "failures", "error_class")}${onPage`,
  count(*) over () as total`}
from ${streak}
where ${streak.project_id} = ${id} and not ${streak.is_open}
order by ${streak.recovered_at} desc nulls last, ${streak.first_failed_build_id} desc${onPage`\nlimit 5`}`,
    times: ask("fact_builds")`
select ${pick(build, "build_id", "outcome", "duration_s_min", "duration_s_max")}
from ${build}
where ${isOwn} and ${isKnownTime(build.duration_s_min, build.duration_s_max)}
order by ${NEWEST}${onPage`\nlimit 6`}`,
    open: ask("open_builds")`
select ${pick(open, "build_id", "outcome", "triggered_at")}, count(*) over () as total,
  count(*) filter (where ${open.outcome} = 'stuck') over () as stuck
from ${open}
where ${open.project_id} = ${id}
order by ${open.triggered_at} desc nulls last, ${open.build_id} desc
limit 1`,
  } satisfies Record<string, Question>;
}

/** The blocks with files. */
export function projectBlocks(questions: ReturnType<typeof projectQuestions>, { id }: Subject) {
  const { builds, failing, causes, series, days, fixed, times } = questions;
  const facts = askFor("dim_projects", {}, [sql`${project.project_id} = ${id}`]);
  return { builds, failing, causes, versions: series, days, fixed, times, facts } satisfies BlockQuestions;
}

const OWN = { slug: null, id: null };

export const PROJECT_FILES = {
  builds: { ...OWN, version: null, type: null, ref: null },
  failing: OWN,
  causes: OWN,
  versions: OWN,
  days: OWN,
  fixed: OWN,
  times: OWN,
  facts: OWN,
};

const all = (...conditions: SQL[]): SQL => sql.join(conditions, sql` and `);

function onlyConditions({ version, type, reference }: Only): SQL[] {
  return [
    version === undefined ? [] : sql`${build.version_slug} = ${version}`,
    type === undefined ? [] : sql`${build.type} = ${type}`,
    reference === undefined ? [] : sql`${build.reference} = ${reference}`,
  ].flat();
}

/** A series of a project: what its strip is found by. */
export interface SeriesOf {
  readonly version_id: string;
  readonly type: string;
  readonly reference: string | null;
}

/** The last outcomes of each series, the oldest first. `place` is that of the series in the list. */
export function askForSeriesStrips(projectId: string, series: readonly SeriesOf[]): Question {
  const own = relation("fact_builds", "build");
  const shown = series.map(({ version_id, type, reference }, place) => ({
    place,
    version_id,
    type,
    reference,
  }));
  return ask("fact_builds")`
select shown.place, last.outcomes
from json_to_recordset(${JSON.stringify(shown)}::text::json) as shown (place int, version_id text, type text, reference text)
cross join lateral (
  select array_agg(${build.outcome} order by place desc) as outcomes
  from (
    select ${build.outcome}, row_number() over (order by ${NEWEST}) as place
    from ${own}
    where ${own.project_id} = ${projectId} and ${own.version_id} = shown.version_id and ${own.type} = shown.type
      and ${own.reference} is not distinct from shown.reference
    order by ${NEWEST}
    limit ${inline(SERIES_STRIP)}
  ) as newest
) as last`;
}

/** All names of versions of a project. */
export function askForVersionNames(projectId: string): Question {
  return ask("dim_versions")`
select distinct ${version.version_slug}
from ${version}
where ${version.project_id} = ${projectId}
order by ${version.version_slug}
limit 2000`;
}
