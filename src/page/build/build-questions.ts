import { type SQL, sql } from "drizzle-orm";
import { ask, askFor, onPage } from "../../report/ask.ts";
import type { Question } from "../../report/question.ts";
import { inline, pick, relation } from "../../report/relation.ts";
import type { BlockQuestions } from "../parts/offers.ts";
import type { Row } from "../parts/row.ts";

const fact = relation("fact_builds");
const build = relation("fact_builds", "build");
const own = relation("fact_builds", "this");
const failing = relation("failing_now", "failing");

/** Builds of its version and format that are shown before and after a build. */
export const BEFORE = 20;
const AFTER = 9;
/** Other projects with the same error: the same line. */
const MOST_ALIKE = 6;

/** The row of one build in `report.fact_builds`. */
export function askForBuild(id: string): Question {
  return askFor("fact_builds", {}, [sql`${fact.build_id} = ${id}`]);
}

/** The questions about a build that the reports count: its neighbours, and who has the same error. */
export function buildQuestions(row: Row) {
  const textOf = (column: string) => String(row[column]);
  const isThis = sql`${fact.build_id} = ${textOf("build_id")}`;
  const withThis = sql`with this as (select * from ${fact} where ${isThis})`;
  const isOfSeries = sql`${build.project_id} = ${textOf("project_id")} and ${build.version_id} = ${textOf("version_id")}
    and ${build.type} = ${textOf("type")} and ${build.reference} is not distinct from ${own.reference}`;
  const place = (of: typeof fact) =>
    sql`(coalesce(${of.triggered_at}, '-infinity'), length(${of.build_id}), ${of.build_id})`;
  const newest = sql`${build.triggered_at} desc nulls last, length(${build.build_id}) desc, ${build.build_id} desc`;
  const oldest = sql`${build.triggered_at} nulls first, length(${build.build_id}), ${build.build_id}`;
  const side = (sign: SQL, order: SQL, builds: number) => sql`(select build.* from ${build}, this
  where ${isOfSeries}
    and ${place(build)} ${sign} ${place(own)}
  order by ${order}
  limit ${inline(builds)})`;
  const isOfKind = sql`${fact.failed} = 1 and ${fact.error_fingerprint} = ${textOf("error_fingerprint")}
    and ${fact.triggered_on} > (select ${fact.triggered_on} from ${fact} order by ${fact.triggered_on} desc nulls last limit 1) - 28
    and ${fact.project_id} <> ${textOf("project_id")}`;
  return {
    around: ask("fact_builds")`
${withThis}
select ${pick(fact, "build_id", "outcome", "succeeded", "triggered_at", "error_class")}
from (
  ${side(sql`<=`, newest, BEFORE + 1)}
  union all
  ${side(sql`>`, oldest, AFTER)}
) as build
order by ${oldest}`,
    good: ask("fact_builds")`
${withThis}
select ${pick(build, "build_id", "triggered_at")}
from ${build}, this
where ${isOfSeries} and ${build.succeeded} = 1 and ${place(build)} < ${place(own)}
order by ${newest}
limit 1`,
    alike: ask("fact_builds")`
select ${pick(fact, "build_id", "project_slug", "version_slug", "type", "triggered_at")},${onPage` count(*) over () as projects,`}
  exists (
    select from ${failing}
    where (${pick(failing, "project_id", "version_id", "type")}) = (${pick(build, "project_id", "version_id", "type")})
  ) as is_failing
from (
  select distinct on (${fact.project_id}) *
  from ${fact}
  where ${isOfKind} and ${fact.error_line_id} = ${textOf("error_line_id")}
  order by ${fact.project_id}, ${fact.triggered_at} desc
) as build
order by ${fact.triggered_at} desc, ${fact.build_id} desc${onPage`\nlimit ${inline(MOST_ALIKE)}`}`,
    kind: ask("fact_builds")`
select count(distinct ${fact.project_id}) as projects
from ${fact}
where ${isOfKind}`,
    times: ask("fact_builds")`
select ${pick(fact, "state", "triggered_at", "finished_after", "finished_before", "duration_s_min", "duration_s_max")}
from ${fact}
where ${isThis}`,
  };
}

/** The blocks with files. `row` is what the reports count of the build; nothing until they have been computed. */
export function buildBlocks(id: string, row: Row | undefined) {
  const own = askForBuild(id);
  const { times, around, alike } = row === undefined ? {} : buildQuestions(row);
  const known = { series: around ?? own, same: alike ?? own };
  return { why: own, states: times ?? own, ...known, facts: own } satisfies BlockQuestions;
}

const OWN = { id: null };

export const BUILD_FILES = { why: OWN, states: OWN, series: OWN, same: OWN, facts: OWN };
