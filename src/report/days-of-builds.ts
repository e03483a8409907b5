import { asQuestion, columnsOf, type Filters, narrow, type Question } from "./question.ts";

/** The columns of a day for any choice of builds; the mean of projects is not among them. */
const RATE_COLUMNS = [
  "day",
  "builds",
  "finished",
  "succeeded",
  "failed",
  "success_rate",
  "success_rate_low",
  "success_rate_high",
  "unfinished",
  "is_complete",
  "is_covered",
  "stuck",
] as const;

const COUNTS = ["builds", "finished", "succeeded", "failed"] as const;
const PERCENTILES = [50, 90, 95] as const;

/**
 * How often builds succeed day by day: `report.success_rate_daily` for the builds of one project, version or
 * type. Computed for each request, because no stored answer has all three. A day is complete when it is so
 * for all builds. Throws ConfigError as `askFor` does.
 */
export function askForDailyRates(filters: Filters): Question {
  const shown = {
    ...Object.fromEntries(COUNTS.map((name) => [name, `coalesce(${name}, case when is_covered then 0 end)`])),
    success_rate: "succeeded / nullif(finished, 0)::float8",
    success_rate_low: "report.wilson_low(succeeded, finished)",
    success_rate_high: "report.wilson_high(succeeded, finished)",
    unfinished: "coalesce(builds - finished, case when is_covered then 0 end)",
    stuck: "coalesce(stuck, case when is_covered then 0 end)",
  };
  const aggregates = [
    "count(*) as builds",
    "count(succeeded) as finished",
    "coalesce(sum(succeeded), 0) as succeeded",
    "coalesce(sum(failed), 0) as failed",
    "count(*) filter (where outcome = 'stuck') as stuck",
  ];
  return overDays(filters, { columns: RATE_COLUMNS, shown, aggregates, conditions: [] });
}

/** How long builds take day by day: `report.build_times_daily` in the same way. */
export function askForDailyTimes(filters: Filters): Question {
  const shown = { finished: "coalesce(finished, case when is_covered then 0 end)" };
  return overDays(filters, {
    columns: columnsOf("build_times_daily"),
    shown,
    aggregates: ["count(*) as finished", ...PERCENTILES.flatMap(percentileOf)],
    conditions: ["duration_s_min is not null"],
  });
}

interface Sums {
  readonly columns: readonly string[];
  /** The expression of each column that is not an aggregate as it is. */
  readonly shown: Readonly<Record<string, string>>;
  readonly aggregates: readonly string[];
  /** Which builds count. */
  readonly conditions: readonly string[];
}

/** The days are those of all builds, or those of the project from its first build. */
function overDays(
  { project, since, until, limit, version, type }: Filters,
  { columns, shown, aggregates, conditions }: Sums,
): Question {
  const calendar = project === undefined ? "success_rate_daily" : "success_rate_daily_by_project";
  const days = narrow(calendar, { since, until, ...(project !== undefined && { project }) });
  const builds = narrow(
    "fact_builds",
    { project, version, type },
    () => [
      "triggered_on >= (select min(day) from days)",
      "triggered_on <= (select max(day) from days)",
      ...conditions,
    ],
    days.params,
  );
  const cut = limit === undefined ? "" : `\nlimit ${builds.hold(limit)}`;
  const selected = columns.map((name) => (shown[name] === undefined ? name : `${shown[name]} as ${name}`));
  const text = `\
with days as (
  select day, bool_and(is_complete) as is_complete, bool_and(is_covered) as is_covered
  ${indented(days.source)}
  group by day
), counted as (
  select triggered_on as day,
    ${aggregates.join(",\n    ")}
  ${indented(builds.source)}
  group by triggered_on
)
select ${selected.join(",\n  ")}
from days left join counted using (day)
order by day desc${cut}`;
  return asQuestion("fact_builds", columns, text, builds.params);
}

const indented = (text: string): string => text.replaceAll("\n", "\n  ");

/** An unknown upper bound may be any number, so a percentile that depends on one is not known either. */
function percentileOf(percent: (typeof PERCENTILES)[number]): string[] {
  const of = (bound: string) =>
    `percentile_cont(${percent / 100}) within group (order by coalesce(duration_s_${bound}, 'infinity'))`;
  return [
    `${of("min")} as p${percent}_s_min`,
    `nullif(nullif(${of("max")}, 'infinity'), 'nan') as p${percent}_s_max`,
  ];
}
