import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask } from "../../report/ask.ts";
import { pick, relation } from "../../report/relation.ts";
import { block } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { dayText, type Period } from "../parts/period.ts";
import { lengthOf } from "./duration-words.ts";
import { CHOSEN, type TrendsScope } from "./trends-scope.ts";

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
    const body =
      rows.length === 0
        ? renderEmpty({
            kind: "unknown",
            strong: "Not known.",
            say: "Nothing is known to have broken in these months.",
          })
        : html`<ul class="rows">${rows.map((row) => {
            const [median, quarter] = [hours(row.median_hours), hours(row.p25_hours)];
            const closed = hours(row.closed_median_hours);
            const half = median === null ? "more than half still broken" : `half fixed within ${median}`;
            const quarterWords = quarter === null ? "" : `; a quarter fixed within ${quarter}`;
            const closedWords =
              closed === null ? "" : `; ${closed} if only those fixed are counted, which is too short`;
            return html`<li><span>Broke in ${String(row.month)}</span><span class="n">${half}</span>
            <small>${counted(Number(row.streaks), "streak")} of failures,
            ${grouped(Number(row.still_open))} still open${quarterWords}${closedWords}</small></li>`;
          })}</ul>`;
    return {
      title: "Time to recover",
      note: "From trigger to trigger, streaks that are still open included, by whole months.",
      body,
    };
  },
});

/** The last months that the period touches, such as 2026-11. */
function monthsOf({ first, last }: Period): string[] {
  const months = new Set<string>();
  for (let day = last; day >= first && months.size < MOST_MONTHS; day--) months.add(dayText(day).slice(0, 7));
  return [...months];
}
