import { sql } from "drizzle-orm";
import { ask } from "../../report/ask.ts";
import { relation } from "../../report/relation.ts";
import { block } from "../parts/block.ts";
import { boundBars } from "../parts/charts/bound-bar.ts";
import { html } from "../parts/html.ts";
import { daysName } from "../parts/period.ts";
import { within } from "../parts/questions/days.ts";
import { isKnownTime } from "../parts/questions/known-times.ts";
import { durationWords } from "./duration-words.ts";
import { boundOf, KEY, percentiles, renderKnown, renderUnknown } from "./times-parts.ts";
import { CHOSEN, lateOf, type TrendsScope } from "./trends-scope.ts";

const phase = relation("build_phases");
const isKnown = isKnownTime(phase.queued_s_min, phase.queued_s_max);

/** How long half of the builds waited, by the hour of the day in which they were triggered. */
export const waits = block({
  id: "waits",
  narrowedBy: CHOSEN,
  asks: ({ period, type }: TrendsScope) => ({
    rows: ask("build_phases")`
select extract(hour from ${phase.triggered_at} at time zone 'UTC')::int as hour, count(*) as finished,
  count(*) filter (where ${isKnown}) as known, ${percentiles("queued", phase.queued_s_min, phase.queued_s_max, isKnown)}
from ${phase}
where ${phase.building_s_min} is not null
  and ${within(phase.triggered_on, lateOf(period).first, period.last)}${type === undefined ? undefined : sql` and ${phase.type} = ${type}`}
group by hour
order by hour`,
  }),
  draw({ rows }, { period, now }) {
    const sum = (name: string) => rows.reduce((all, row) => all + Number(row[name]), 0);
    const hours = rows.filter((row) => Number(row.known) > 0);
    const bars = boundBars(hours.map((row) => boundOf(row, "queued_p50")));
    return {
      title: "Waiting by hour of the day",
      count: `${daysName(lateOf(period), now)}, UTC`,
      note: "How long half of the builds waited that were triggered in each hour.",
      body:
        hours.length === 0
          ? renderUnknown(sum("finished"))
          : html`${renderKnown(sum("known"), sum("finished"))}
<ul class="bounds phases">${bars.axis}${hours.map((row) => {
              const bound = boundOf(row, "queued_p50");
              return html`<li><span>${String(row.hour).padStart(2, "0")}:00</span>${bars.draw(bound)}
              <span class="n">${durationWords(bound)}</span></li>`;
            })}</ul>
${KEY}`,
    };
  },
});
