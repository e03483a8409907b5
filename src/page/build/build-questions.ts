import { askFor, type Question } from "../../report/question.ts";
import type { Row } from "../parts/list-table.ts";
import { statement } from "../parts/questions/statement.ts";

/** Builds of its version and format that are shown before and after a build. */
export const BEFORE = 20;
const AFTER = 9;
/** Other projects with the same error. */
export const MOST_ALIKE = 6;

/** The row of one build in `report.fact_builds`. */
export function askForBuild(id: string): Question {
  return askFor("fact_builds", {}, (hold) => [`build_id = ${hold(id)}`]);
}

/** The questions about a build that the reports count: its neighbours, and who has the same error. */
export function buildQuestions(fact: Row) {
  const id = String(fact.build_id);
  const ofSeries = (hold: (value: string | number) => string) =>
    `build.project_id = ${hold(String(fact.project_id))} and build.version_id = ${hold(String(fact.version_id))}
    and build.type = ${hold(String(fact.type))} and build.reference is not distinct from this.reference`;
  const place = (of: string) =>
    `(coalesce(${of}.triggered_at, '-infinity'), length(${of}.build_id), ${of}.build_id)`;
  const newest = "build.triggered_at desc nulls last, length(build.build_id) desc, build.build_id desc";
  const oldest = "build.triggered_at nulls first, length(build.build_id), build.build_id";
  return {
    around: statement(
      "fact_builds",
      (hold) => `with this as (select * from report.fact_builds where build_id = ${hold(id)})
select build_id, outcome, succeeded, triggered_at, error_class
from (
  (select build.* from report.fact_builds as build, this
  where ${ofSeries(hold)}
    and ${place("build")} <= ${place("this")}
  order by ${newest}
  limit ${BEFORE + 1})
  union all
  (select build.* from report.fact_builds as build, this
  where ${ofSeries(hold)}
    and ${place("build")} > ${place("this")}
  order by ${oldest}
  limit ${AFTER})
) as build
order by ${oldest}`,
    ),
    good: statement(
      "fact_builds",
      (hold) => `with this as (select * from report.fact_builds where build_id = ${hold(id)})
select build.build_id, build.triggered_at
from report.fact_builds as build, this
where ${ofSeries(hold)} and build.succeeded = 1 and ${place("build")} < ${place("this")}
order by ${newest}
limit 1`,
    ),
    alike: statement(
      "fact_builds",
      (
        hold,
      ) => `select build_id, project_slug, version_slug, type, triggered_at, count(*) over () as projects,
  exists (
    select from report.failing_now as failing
    where (failing.project_id, failing.version_id, failing.type) = (build.project_id, build.version_id, build.type)
  ) as is_failing
from (
  select distinct on (project_id) *
  from report.fact_builds
  where failed = 1 and error_class = ${hold(String(fact.error_class))} and error_fingerprint = ${hold(String(fact.error_fingerprint))}
    and triggered_on > (select triggered_on from report.fact_builds order by triggered_on desc nulls last limit 1) - 28
    and project_id <> ${hold(String(fact.project_id))}
  order by project_id, triggered_at desc
) as build
order by triggered_at desc, build_id desc
limit ${MOST_ALIKE}`,
    ),
    times: statement(
      "fact_builds",
      (hold) => `select state, triggered_at, finished_after, finished_before, duration_s_min, duration_s_max
from report.fact_builds
where build_id = ${hold(id)}`,
    ),
  };
}
