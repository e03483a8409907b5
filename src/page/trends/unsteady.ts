import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { askFor, inline, onPage } from "../../report/ask.ts";
import { type Asks, countIn } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import { points, renderPoints } from "../parts/changes.ts";
import { html } from "../parts/html.ts";
import { buildLink, projectLink, targetTag } from "../parts/links.ts";
import { HOUR_MS, span } from "../parts/marks.ts";
import { dayText, type Period } from "../parts/period.ts";
import { renderRows } from "../parts/tables.ts";
import { type TrendsScope, trendsQuestion } from "./trends-scope.ts";

const MOST_ROWS = 5;

interface FlakyRow {
  readonly project_slug: string;
  readonly version_slug: string;
  readonly type: string;
  readonly finished: number;
  readonly flips: number;
  readonly flip_rate_by_chance: number;
  /** The number of all. */
  readonly series: number;
}

const FLAKY = trendsQuestion<FlakyRow>("flaky");

/** Versions and formats whose results change more often than chance explains. */
export const flaky = block({
  id: "flaky",
  narrowedBy: { type: null },
  asks: (scope: TrendsScope) => ({ rows: FLAKY(scope) }),
  draw({ rows }) {
    const all = countIn(rows[0], "series");
    return {
      title: "Flaky",
      ...(all > 0 && { count: grouped(all) }),
      note: "Of the last 20 results of each, whatever dates are chosen: those that change between success and failure more often than random order would.",
      empty: all === 0 && [
        "unknown",
        "None stands out.",
        "None changes more often than chance explains. With few builds none could.",
      ],
      body: renderRows(
        rows.map((row) => ({
          name: html`${projectLink(row.project_slug)} ${targetTag(row)}`,
          figure: counted(row.flips, "change"),
          small: `in ${grouped(row.finished)} builds; ${grouped(Math.round(row.flip_rate_by_chance * (row.finished - 1)))} would be chance`,
        })),
        all > rows.length && `${grouped(all - rows.length)} more in the file.`,
      ),
    };
  },
});

interface RegressionRow {
  readonly project_slug: string;
  readonly finished_last_7_days: number;
  readonly succeeded_last_7_days: number;
  readonly finished_28_days_before: number;
  readonly succeeded_28_days_before: number;
  readonly difference: number;
  readonly difference_high: number;
  readonly last_failed_build_id: string | null;
}

/** Projects that got worse lately. */
export const regressions = block({
  id: "regressions",
  narrowedBy: {},
  asks: (_: TrendsScope): { rows: Asks<RegressionRow> } => ({
    rows: askFor("regressions", {}, [], onPage`\nlimit ${inline(MOST_ROWS)}`),
  }),
  draw: ({ rows }) => ({
    title: "Projects that got worse",
    note: "The last 7 days against the 28 before, whatever dates are chosen; projects with 20 finished builds or more in both.",
    empty: rows.length === 0 && [
      "unknown",
      "None is known.",
      "No project with 20 finished builds in 7 days and in the 28 before them is surely worse.",
    ],
    body: renderRows(
      rows.map((row) => ({
        name: projectLink(row.project_slug),
        figure: renderPoints({ by: row.difference, isChance: false }),
        small: html`${grouped(row.succeeded_last_7_days)} of ${grouped(row.finished_last_7_days)} succeeded,
          ${grouped(row.succeeded_28_days_before)} of ${grouped(row.finished_28_days_before)} before: surely
          ${points(-row.difference_high).replace("+", "")} points or
          more${row.last_failed_build_id && html` · last ${buildLink(row.last_failed_build_id)}`}`,
      })),
    ),
  }),
});

const MOST_MONTHS = 6;

interface RepairRow {
  readonly month: string;
  readonly streaks: number;
  readonly breaks: number;
  readonly breaks_recovered: number;
  readonly breaks_p25_hours: number | null;
  readonly breaks_median_hours: number | null;
}

const REPAIRS = trendsQuestion<RepairRow>("repairs");

/** The time until breaks are fixed, by the month in which they came. */
export const repairs = block({
  id: "repairs",
  asks: (scope: TrendsScope) => ({
    rows: REPAIRS(scope, {
      of_all_or_type: scope.type === undefined ? sql`is null` : sql`= ${scope.type}`,
      months: monthsOf(scope.period),
    }),
  }),
  draw({ rows }) {
    const within = (hours: number | null, words: (length: string) => string) =>
      hours === null ? "" : words(span(hours * HOUR_MS));
    return {
      title: "Time to recover",
      note: "From trigger to trigger, open breaks included, by whole months.",
      empty: rows.length === 0 && [
        "unknown",
        "Not known.",
        "Nothing is known to have broken in these months.",
      ],
      body: renderRows(
        rows.map(({ month, streaks, breaks, breaks_recovered, breaks_p25_hours, breaks_median_hours }) => ({
          name: `Broke in ${month}`,
          figure:
            within(breaks_median_hours, (length) => `half fixed within ${length}`) ||
            "more than half not fixed",
          small: `${counted(breaks, "break")}, ${grouped(breaks - breaks_recovered)} not fixed${within(
            breaks_p25_hours,
            (length) => `; a quarter fixed within ${length}`,
          )}${streaks > breaks ? `; ${grouped(streaks - breaks)} more failed from their first known build on` : ""}`,
        })),
      ),
    };
  },
});

/** The last months that the period touches, such as 2026-11. */
function monthsOf({ first, last }: Period): string[] {
  const months = new Set<string>();
  for (let day = last; day >= first && months.size < MOST_MONTHS; day--) months.add(dayText(day).slice(0, 7));
  return [...months];
}
