import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, askFor, inline, onPage, pick, relation, where } from "../../report/ask.ts";
import type { Row } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import { html, type Markup } from "../parts/html.ts";
import { buildLink, projectLink, targetTag } from "../parts/links.ts";
import { icon } from "../parts/marks.ts";
import { dayText, type Period } from "../parts/period.ts";
import { points } from "./compare.ts";
import { lengthOf } from "./times.ts";
import { CHOSEN, type TrendsScope } from "./trends-scope.ts";

const series = relation("instability");
const SHOWN = 5;

/** Versions and formats whose results change more often than chance explains. */
export const flaky = block({
  id: "flaky",
  narrowedBy: { type: null },
  asks: (scope: TrendsScope) => ({
    rows: ask("instability")`
select ${pick(series, "project_slug", "version_slug", "type", "finished", "flips", "flip_rate_by_chance", "p_value_adjusted")}${onPage`,
  count(*) over () as series`}
from ${series}${where(sql`${series.is_flaky}`, scope.type !== undefined && sql`${series.type} = ${scope.type}`)}
order by ${series.p_value}, ${series.finished} desc, ${pick(series, "project_slug", "version_slug", "type")}${onPage`\nlimit ${inline(SHOWN)}`}`,
  }),
  draw({ rows }) {
    const all = Number(rows[0]?.series ?? 0);
    return {
      title: "Flaky",
      ...(all > 0 && { count: grouped(all) }),
      note: "Of the last 20 results of each, whatever dates are chosen: those that change between success and failure more often than random order would.",
      empty: rows.length === 0 && [
        "unknown",
        "None stands out.",
        "No version and format changes so often that chance is an unlikely reason. With few builds nothing could.",
      ],
      body: html`<ul class="rows">${rows.map((row) => {
        const chance = Number(row.flip_rate_by_chance) * (Number(row.finished) - 1);
        return html`<li><span>${projectLink(row.project_slug)} ${targetTag(row)}</span>
              <span class="n">${counted(Number(row.flips), "change")}</span>
              <small>in ${grouped(Number(row.finished))} builds; ${grouped(Math.round(chance))} would be
              chance</small></li>`;
      })}</ul>${all > rows.length ? html`<p class="more">${grouped(all - rows.length)} more in the file.</p>` : ""}`,
    };
  },
});

/** Projects that got worse lately. */
export const regressions = block({
  id: "regressions",
  narrowedBy: {},
  asks: (_: TrendsScope) => ({
    rows: askFor("regressions", {}, [], onPage`\nlimit ${inline(SHOWN)}`),
  }),
  draw({ rows }) {
    return {
      title: "Projects that got worse",
      note: "The last 7 days against the 28 before, whatever dates are chosen; projects with 20 finished builds or more in both.",
      empty: rows.length === 0 && [
        "unknown",
        "None is known.",
        "No project with that many builds has a rate that is surely lower. Of those with fewer this says nothing.",
      ],
      body: html`<ul class="rows">${rows.map(
        (row) =>
          html`<li>${projectLink(row.project_slug)}
                <span class="n"><span class="delta bad">${icon("down")}<span class="unseen">down </span>
                ${points(Number(row.difference)).replace("−", "")} points</span></span>
                <small>${grouped(Number(row.succeeded_last_7_days))} of
                ${grouped(Number(row.finished_last_7_days))} succeeded,
                ${grouped(Number(row.succeeded_28_days_before))} of
                ${grouped(Number(row.finished_28_days_before))} before: surely
                ${points(-Number(row.difference_high)).replace("+", "")} points or more${lastFailed(row)}</small></li>`,
      )}</ul>`,
    };
  },
});

const lastFailed = ({ last_failed_build_id: id }: Row): Markup | string =>
  id === null ? "" : html` · last ${buildLink(id)}`;

const repair = relation("time_to_recover");
const MOST_MONTHS = 6;

/** How long what breaks stays broken, by the month in which it broke. */
export const repairs = block({
  id: "repairs",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => ({
    rows: ask("time_to_recover")`
select ${pick(repair, "month", "streaks", "recovered", "still_open", "p25_hours", "median_hours", "p75_hours", "closed_median_hours")}
from ${repair}
where ${repair.project_id} is null and ${repair.type} ${scope.type === undefined ? sql`is null` : sql`= ${scope.type}`}
  and ${repair.month} in ${monthsOf(scope.period)}
order by ${repair.month} desc`,
  }),
  draw({ rows }) {
    const hours = (value: unknown) => (value === null ? null : lengthOf(Number(value) * 3600));
    return {
      title: "Time to recover",
      note: "From trigger to trigger, streaks that are still open included, by whole months.",
      empty: rows.length === 0 && [
        "unknown",
        "Not known.",
        "Nothing is known to have broken in these months.",
      ],
      body: html`<ul class="rows">${rows.map((row) => {
        const [median, quarter] = [hours(row.median_hours), hours(row.p25_hours)];
        const closed = hours(row.closed_median_hours);
        const half = median === null ? "more than half still broken" : `half fixed within ${median}`;
        const quarterWords = quarter === null ? "" : `; a quarter fixed within ${quarter}`;
        const closedWords =
          closed === null ? "" : `; ${closed} if only those fixed are counted, which is too short`;
        return html`<li><span>Broke in ${String(row.month)}</span><span class="n">${half}</span>
            <small>${counted(Number(row.streaks), "streak")} of failures,
            ${grouped(Number(row.still_open))} still open${quarterWords}${closedWords}</small></li>`;
      })}</ul>`,
    };
  },
});

/** The last months that the period touches, such as 2026-11. */
function monthsOf({ first, last }: Period): string[] {
  const months = new Set<string>();
  for (let day = last; day >= first && months.size < MOST_MONTHS; day--) months.add(dayText(day).slice(0, 7));
  return [...months];
}
