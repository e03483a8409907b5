import { askFor, columnsOf, type Filters, type Question } from "./question.ts";

const PERCENTILES = [50, 90, 95] as const;

/**
 * How long the builds of one project take, day by day: the columns of `report.build_times_daily`, by the same definition, on the days of
 * `success_rate_daily_by_project`. It is computed when it is asked for, since a project has few builds beside all of them.
 */
export function askForBuildTimes(filters: Filters): Question {
  const days = askFor("success_rate_daily_by_project", filters);
  const columns = columnsOf("build_times_daily");
  return {
    relation: "fact_builds",
    columns,
    params: days.params,
    text: timesOn(days.text, columns),
    readable: `${timesOn(days.readable.replace(/;\n$/, ""), columns)};\n`,
  };
}

/** `days` is the statement that gives the days; one project may have had two ids. */
function timesOn(days: string, columns: readonly string[]): string {
  return `\
with days as (
  ${days.replaceAll("\n", "\n  ")}
), times as (
  select build.triggered_on as day, count(*) as finished,
    ${PERCENTILES.map(percentileOf).join(",\n    ")}
  from report.fact_builds as build
  join days on days.project_id = build.project_id and days.day = build.triggered_on
  where build.duration_s_min is not null
  group by build.triggered_on
)
select ${columns.map(columnOf).join(", ")}
from (select day, bool_and(is_complete) as is_complete, bool_and(is_covered) as is_covered from days group by day) as days
left join times using (day)
order by day desc`;
}

/** An upper bound that is not known may be any: a percentile that leans on one is not known either. */
function percentileOf(percent: (typeof PERCENTILES)[number]): string {
  const of = (bound: string) =>
    `percentile_cont(${percent / 100}) within group (order by coalesce(duration_s_${bound}, 'infinity'))`;
  return (
    `${of("min")} as p${percent}_s_min,\n    ` +
    `nullif(nullif(${of("max")}, 'infinity'), 'nan') as p${percent}_s_max`
  );
}

function columnOf(column: string): string {
  return column === "finished" ? "case when is_covered then coalesce(finished, 0) end as finished" : column;
}
