import type { Relation } from "../db/report-dictionary.ts";
import { askForDailyRates, askForDailyTimes } from "../report/days-of-builds.ts";
import { askFor, type Filters } from "../report/question.ts";
import type { BlockSpec } from "./block.ts";
import { between, countOf, dayOf, eitherOf, RATE } from "./cells.ts";
import { type BuildTimesDay, durationChart } from "./charts/duration-chart.ts";
import type { IncidentHour } from "./charts/incident-hours.ts";
import { type RateDay, successRateChart } from "./charts/success-rate-chart.ts";
import { type VolumeDay, volumeChart } from "./charts/volume-chart.ts";

/** Three years. Tools that need more read CSV or SQL. */
const MOST_DAYS = 1100;

const DAY = dayOf("Day", "day");
const STATE = [
  eitherOf("Final", "is_complete", { yes: "yes", no: "may change" }),
  eitherOf("Covered", "is_covered", { yes: "yes", no: "no sync yet" }),
] as const;
const APPLICABLE = ["since", "until", "version", "type"] as const;

/**
 * The stored daily answers are not split by version or type. With such a filter the answer is computed from
 * the builds.
 */
const isCut = ({ version, type }: Filters) => version !== undefined || type !== undefined;

/** How builds went day by day, for all projects or for one. */
export function dailyBlocks(of: "all" | "project"): readonly BlockSpec[] {
  const rates: Relation = of === "all" ? "success_rate_daily" : "success_rate_daily_by_project";
  const ask = (filters: Filters) => (isCut(filters) ? askForDailyRates(filters) : askFor(rates, filters));
  const daily = {
    filters: APPLICABLE,
    limit: MOST_DAYS,
    ask,
    empty: "No day in this time has a build.",
  } as const;
  return [
    {
      ...daily,
      id: "success-rate",
      title: "Success rate by day",
      relation: rates,
      chart: async (rows, answers) => {
        const incidents = await answers.of("incident-hours");
        return successRateChart(rows as unknown as RateDay[], incidents as unknown as IncidentHour[]);
      },
      columns: [DAY, ...RATE, countOf("Finished", "finished"), countOf("Succeeded", "succeeded"), ...STATE],
    },
    {
      ...daily,
      id: "volume",
      title: "Builds by day",
      relation: rates,
      meaning: "How many builds were triggered each day, and how did they end?",
      chart: (rows) => volumeChart(rows as unknown as VolumeDay[]),
      columns: [
        DAY,
        countOf("Builds", "builds"),
        countOf("Succeeded", "succeeded"),
        countOf("Failed", "failed"),
        countOf("Unfinished", "unfinished"),
        ...STATE,
      ],
    },
    {
      ...daily,
      id: "durations",
      title: "How long builds take",
      relation: of === "all" ? "build_times_daily" : "fact_builds",
      meaning:
        "How long do builds take from trigger to finish? The true percentile is between the two bounds. The more rarely the mirror polls, the wider they are.",
      ask: (filters) =>
        of === "project" || isCut(filters) ? askForDailyTimes(filters) : askFor("build_times_daily", filters),
      chart: (rows) => durationChart(rows as unknown as BuildTimesDay[]),
      columns: [
        DAY,
        countOf("Finished", "finished"),
        between("Median (P50)", "p50_s_min", "p50_s_max"),
        between("P90", "p90_s_min", "p90_s_max"),
        between("P95", "p95_s_min", "p95_s_max"),
        ...STATE,
      ],
    },
  ];
}
