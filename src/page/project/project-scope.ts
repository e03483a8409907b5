import { type SQL, sql } from "drizzle-orm";
import { ask, inline, onPage, pick, type Question, relation } from "../../report/ask.ts";
import { columnsOf } from "../../report/dictionary.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach, countIn, type Row } from "../parts/answers.ts";
import { isKnownTime } from "../parts/charts.ts";
import type { PageMoment } from "../parts/freshness.ts";
import type { Query } from "../parts/links.ts";

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

/** What the blocks of a project are about. */
export interface ProjectScope extends PageMoment {
  readonly subject: Subject;
  /** Its row of `report.dim_projects`. */
  readonly project: Row;
  readonly choice: ProjectChoice;
  /** What its links keep: its id, where several projects have the slug. */
  readonly kept: Query;
  /** The address of the page, with what its links keep. */
  href(query: Query): string;
}

/** What narrows the files of most blocks. */
export const OWN = { slug: null, id: null };

/** The newest build first. */
export const NEWEST = sql`${build.triggered_on} desc nulls last, ${build.triggered_at} desc nulls last, length(${build.build_id}) desc, ${build.build_id} desc`;
export const isOf = ({ subject }: ProjectScope): SQL => sql`${build.project_id} = ${subject.id}`;

/** A number of the first row of an answer. */
export const numberOf = (rows: readonly Row[], column: string): number => countIn(rows[0], column);

// What the verdict and a block both ask.

/** All builds of the project, and those of two weeks. */
export function askForTotals(scope: ProjectScope): Question {
  const total = relation("success_rate_by_project", "total");
  const today = sql`${scope.at.toISOString().slice(0, 10)}::date`;
  const ago = (span: string) =>
    sql`${scope.at.toISOString()}::timestamptz - interval ${sql.raw(`'${span}'`)}`;
  return ask("success_rate_by_project")`
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

/** The builds whose rate is shown, and those before them. */
export const askForRecent = (scope: ProjectScope): Question => ask("fact_builds")`
select ${build.outcome}, ${build.finished_before} is not null and (${isKnownTime(build.duration_s_min, build.duration_s_max)}) is not true as is_untimed
from ${build}
where ${isOf(scope)}
order by ${NEWEST}
limit ${inline(2 * STRIP_BUILDS)}`;

/** What fails: the main docs first, then the newest break. */
export const askForFailing = ({ subject }: ProjectScope): Question => ask("failing_now")`
select ${pick(failing, ...columnsOf("failing_now"))}${onPage`, count(*) over () as total, min(${failing.failing_since}) over () as oldest`}
from ${failing}
where ${failing.project_id} = ${subject.id}
order by ${failing.is_main} desc, ${failing.failing_since} desc nulls last, ${pick(failing, "version_slug", "version_id", "type", "reference")}${onPage`
limit ${inline(MOST_FAILING)}`}`;

/** The versions and formats, in the order of the list. */
export function askForSeries(scope: ProjectScope): Question {
  const { id, mainVersion } = scope.subject;
  const of = relation("dim_versions", "version");
  const broken = relation("failing_now", "failing");
  return ask("fact_builds")`
select series.*, ${pick(of, "version_slug", "is_deleted", "is_active")},
  ${broken.first_failed_build_id} is not null as is_failing,${onPage` count(*) over () as total,`}
  ${of.version_slug} = ${mainVersion} and series.type = 'html' and not ${of.is_deleted} as is_main
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

/** The last outcomes of listed series, the oldest first, by their rows. */
export async function findStrips(tx: TransactionSql, { subject }: ProjectScope, rows: readonly Row[]) {
  const own = relation("fact_builds", "build");
  const series = rows.map(({ version_id, type, reference }, place) => ({
    place,
    version_id,
    type,
    reference,
  }));
  const { strips } = await askEach(tx, {
    strips:
      rows.length === 0
        ? null
        : ask("fact_builds")`
select shown.place, last.outcomes
from json_to_recordset(${JSON.stringify(series)}::text::json) as shown (place int, version_id text, type text, reference text)
cross join lateral (
  select array_agg(${build.outcome} order by place desc) as outcomes
  from (
    select ${build.outcome}, row_number() over (order by ${NEWEST}) as place
    from ${own}
    where ${own.project_id} = ${subject.id} and ${own.version_id} = shown.version_id and ${own.type} = shown.type
      and ${own.reference} is not distinct from shown.reference
    order by ${NEWEST}
    limit ${inline(SERIES_STRIP)}
  ) as newest
) as last`,
  });
  const outcomes = new Map(strips.map(({ place, outcomes }) => [rows[Number(place)], outcomes]));
  return (row: Row) => (outcomes.get(row) as string[] | null | undefined) ?? [];
}
