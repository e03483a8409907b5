import { type SQL, sql } from "drizzle-orm";
import { ask, inline, onPage, pick, relation } from "../../report/ask.ts";
import { columnsOf } from "../../report/dictionary.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach } from "../parts/answers.ts";
import { isKnownTime } from "../parts/bounds.ts";
import type { PageMoment } from "../parts/freshness.ts";
import type { Query } from "../parts/links.ts";
import type { Project } from "../parts/projects.ts";
import { type Failing, lastOutcomes, type StripRow } from "../parts/strips.ts";

const build = relation("fact_builds");
const failing = relation("failing_now");

/** Builds in the strip, and in each page of it. */
export const STRIP_BUILDS = 30;
/** Failures that are listed. */
export const MOST_FAILING = 25;
/** Versions and formats: at first, and all that one page can bear. */
export const FEW_SERIES = 10;
export const MOST_SERIES = 200;
const SERIES_STRIP = 20;

/** The choice among the builds of a project that the strip has. */
export interface Only {
  readonly version: string | undefined;
  readonly type: string | undefined;
  /** The name by which its builds call an unknown version. */
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

/** A project, and its main documentation. */
export interface Subject {
  readonly id: string;
  readonly slug: string;
  /** The slug of its default version. */
  readonly mainVersion: string;
}

/** The moment of the page, its project, and the choice of the reader. */
export interface ProjectScope extends PageMoment {
  readonly subject: Subject;
  readonly project: Project;
  readonly choice: ProjectChoice;
  /** Its links keep its id where several projects have the slug. */
  readonly kept: Query;
  /** The address of the page with another choice. */
  href(query: Query): string;
}

/** The parameters that narrow the files of most blocks. */
export const OWN = { slug: null, id: null };

/** The newest build first. */
export const NEWEST = sql`${build.triggered_on} desc nulls last, ${build.triggered_at} desc nulls last, length(${build.build_id}) desc, ${build.build_id} desc`;
export const isOf = ({ subject }: ProjectScope): SQL => sql`${build.project_id} = ${subject.id}`;

// Questions that the verdict and a block share.

/** All builds of the project, and those of two weeks. */
interface TotalsRow {
  readonly builds: number;
  readonly finished: number;
  readonly succeeded: number;
  readonly first_triggered_at: string | null;
  readonly week: number;
  readonly week_before: number;
}

/** One row, or none without a build. */
export function askForTotals(scope: ProjectScope): Asks<TotalsRow> {
  const total = relation("success_rate_by_project", "total");
  const today = sql`${scope.at.toISOString().slice(0, 10)}::date`;
  const ago = (span: string) =>
    sql`${scope.at.toISOString()}::timestamptz - interval ${sql.raw(`'${span}'`)}`;
  return ask`
select ${pick(total, "builds", "finished", "succeeded", "first_triggered_at")}, weeks.*
from ${total}
cross join (
  select count(*) filter (where ${build.triggered_at} > ${ago("7 days")}) as week,
    count(*) filter (where ${build.triggered_at} <= ${ago("7 days")}) as week_before
  from ${build}
  where ${isOf(scope)} and ${build.triggered_on} >= ${today} - 15 and ${build.triggered_at} > ${ago("14 days")}
) as weeks
where ${total.project_id} = ${scope.subject.id}`;
}

export interface RecentBuild {
  readonly outcome: string;
  /** It finished, and its time is not known. */
  readonly is_untimed: boolean;
}

/** The builds whose rate is shown, and those before them. */
export const askForRecent = (scope: ProjectScope): Asks<RecentBuild> => ask`
select ${build.outcome}, ${build.finished_before} is not null and ${build.outcome} <> 'cancelled'
  and (${isKnownTime(build.duration_s_min, build.duration_s_max)}) is not true as is_untimed
from ${build}
where ${isOf(scope)}
order by ${NEWEST}
limit ${inline(2 * STRIP_BUILDS)}`;

/** A version and format of the project. An unknown version has the name that its builds call it by. */
interface Series {
  readonly version_id: string;
  readonly version_slug: string;
  readonly type: string;
  readonly reference: string | null;
  readonly is_active: boolean | null;
}

export interface FailingSeries extends Series, Failing {
  /** The number of those that fail, and the moment since which the oldest does. */
  readonly total: number;
  readonly oldest: string | null;
}

/** The series that fail: the main docs first, then the newest break. */
export const askForFailing = ({ subject }: ProjectScope): Asks<FailingSeries> => ask`
select ${pick(failing, ...columnsOf("failing_now"))}${onPage`, count(*) over () as total, min(${failing.failing_since}) over () as oldest`}
from ${failing}
where ${failing.project_id} = ${subject.id}
order by ${failing.is_main} desc, ${failing.failing_since} desc nulls last, ${pick(failing, "version_slug", "version_id", "type", "reference")}${onPage`
limit ${inline(MOST_FAILING)}`}`;

export interface BuiltSeries extends Series {
  readonly builds: number;
  readonly finished: number;
  readonly succeeded: number;
  readonly last_triggered_at: string | null;
  readonly is_deleted: boolean | null;
  readonly is_failing: boolean;
  readonly is_main: boolean | null;
  /** The number of all. */
  readonly total: number;
}

/** The versions and formats, in the order of the list. */
export function askForSeries(scope: ProjectScope): Asks<BuiltSeries> {
  const { id } = scope.subject;
  const of = relation("dim_versions", "version");
  const broken = relation("failing_now", "failing");
  return ask`
select series.*, ${pick(of, "version_slug", "is_deleted", "is_active")},
  ${broken.first_failed_build_id} is not null as is_failing,${onPage` count(*) over () as total,`}
  ${of.is_main} and ${of.project_id} = ${id} and series.type = 'html' and not ${of.is_deleted} as is_main
from (
  select ${pick(build, "version_id", "type", "reference")}, count(*) as builds, count(${build.succeeded}) as finished,
    coalesce(sum(${build.succeeded}), 0) as succeeded, max(${build.triggered_at}) as last_triggered_at
  from ${build}
  where ${isOf(scope)}
  group by ${pick(build, "version_id", "type", "reference")}
) as series
left join ${of} on ${of.version_id} = series.version_id
left join ${broken} on ${broken.project_id} = ${id} and ${broken.version_id} = series.version_id
  and ${broken.type} = series.type and ${broken.reference} is not distinct from series.reference
order by is_main desc nulls last, is_failing desc, series.last_triggered_at desc nulls last, ${of.version_slug},
  series.version_id, series.type, series.reference${onPage`
limit ${inline(scope.choice.isAllSeries ? MOST_SERIES : FEW_SERIES)}`}`;
}

/** The last outcomes of listed series, the oldest first. */
export async function findStrips<S extends Series>(
  tx: TransactionSql,
  { subject }: ProjectScope,
  series: readonly S[],
): Promise<(one: S) => readonly string[]> {
  const own = relation("fact_builds", "build");
  const shown = series.map(({ version_id, type, reference }, place) => ({
    place,
    version_id,
    type,
    reference,
  }));
  const isOf = sql`${own.project_id} = ${subject.id} and ${own.version_id} = shown.version_id and ${own.type} = shown.type
    and ${own.reference} is not distinct from shown.reference`;
  const question: Asks<StripRow & { readonly place: number }> = ask`
select shown.place, last.outcomes
from json_to_recordset(${JSON.stringify(shown)}::text::json) as shown (place int, version_id text, type text, reference text)
${lastOutcomes(isOf, NEWEST, SERIES_STRIP)}`;
  const { strips } = await askEach(tx, { strips: series.length === 0 ? null : question });
  const outcomes = new Map(strips.map(({ place, outcomes }) => [series[place], outcomes]));
  return (one) => outcomes.get(one) ?? [];
}
