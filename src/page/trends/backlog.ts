import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, relation } from "../../report/ask.ts";
import { sumIn } from "../parts/answers.ts";
import { dayAxis, drawDates, spansOf } from "../parts/axes.ts";
import { block } from "../parts/block.ts";
import { html } from "../parts/html.ts";
import { dayNumber, daysName } from "../parts/period.ts";
import { drawBar, drawPlot, levelLine, renderKey, swatch } from "../parts/plot.ts";
import { UNWATCHED } from "./times.ts";
import { CHOSEN, momentWithin, type TrendsScope } from "./trends-scope.ts";

const open = relation("backlog");

/** How many builds were open at once, at most, day by day, in the hours in which that is known. */
export const backlog = block({
  id: "backlog",
  narrowedBy: CHOSEN,
  asks({ period: { first, last } }: TrendsScope) {
    const isKnown = sql`filter (where ${open.open_max} - ${open.open_min} <= greatest(5, ${open.open_max} / 10))`;
    return {
      rows: ask("backlog")`
select (${open.hour} at time zone 'UTC')::date as day, count(*) as hours, count(*) ${isKnown} as known,
  max(${open.open_min}) ${isKnown} as open_min, max(${open.open_max}) ${isKnown} as open_max
from ${open}
where ${momentWithin(open.hour, first, last)} and ${open.is_covered}
group by day
order by day`,
    };
  },
  draw({ rows }, { period, type, now }) {
    const [hours, known] = [sumIn(rows, "hours"), sumIn(rows, "known")];
    const byDay = new Map(
      rows
        .filter((row) => Number(row.known) > 0)
        .map((row) => [dayNumber(row.day), { least: Number(row.open_min), most: Number(row.open_max) }]),
    );
    // The axis begins with the first day of which something is known.
    const [first, last] = [Math.min(...byDay.keys()), Math.max(...byDay.keys())];
    const shown = known === 0 ? [] : spansOf({ ...period, before: null, start: first, first, last });
    const spans = shown.map((span) => {
      let [least, most] = [0, 0];
      for (let day = span.first; day <= span.last; day++) {
        const known = byDay.get(day);
        if (known !== undefined) [least, most] = [Math.max(least, known.least), Math.max(most, known.most)];
      }
      return { ...span, least, most };
    });
    const axis = dayAxis(spans);
    const sure = Math.max(0, ...spans.map(({ least }) => least));
    const [bottom, height] = [72, 98];
    const top = Math.max(1, ...spans.map(({ most }) => most));
    const high = (count: number) => ((bottom - 6) * count) / top;
    const chart = drawPlot({
      height,
      told: `Open builds: at most ${grouped(top)} at once in the hours that are known, of which ${grouped(sure)} surely.`,
      labels: [
        { y: bottom + 4, words: "0" },
        { y: bottom - high(top) + 8, words: grouped(top) },
      ],
      body: html`${spans.map((span) => {
        const [surely, perhaps] = [high(span.least), high(span.most) - high(span.least)];
        const most = span.least === span.most ? "" : ` to ${grouped(span.most)}`;
        const bar = axis.bar(span);
        return html`<g><title>${daysName(span, now)}: ${grouped(span.least)}${most} open</title>
        ${surely === 0 ? "" : drawBar("ink", bar, (bottom - surely).toFixed(1), surely)}
        ${perhaps === 0 ? "" : drawBar("perhaps", bar, (bottom - surely - perhaps).toFixed(1), perhaps)}</g>`;
      })}
${levelLine(bottom, "base")}${drawDates(spans, axis, height - 4, now)}`,
    });
    const mark = spans.some(({ days }) => days > 1) ? "mark" : "day";
    const ofAll = type === undefined ? "" : "; of all formats";
    return {
      title: "Open builds",
      count: daysName(period, now),
      note: `The fullest known hour of each ${mark}: builds that were triggered and had not finished, stuck ones included${ofAll}.`,
      empty: known === 0 && [
        "unknown",
        "Not known.",
        hours === 0
          ? "No sync has covered these hours."
          : html`In none of ${counted(hours, "hour")} is it known to within five builds or a tenth: ${UNWATCHED}`,
      ],
      body: html`<p class="took">At most <b>${sure === 0 || sure === top ? grouped(top) : `${grouped(sure)} to ${grouped(top)}`}</b> at once.</p>
<p class="note">That is known to within five builds or a tenth in ${grouped(known)} of ${counted(hours, "hour")}.
  ${known < hours / 2 ? html`In the others it is not: ${UNWATCHED}` : ""}</p>
${
  // A single bar says no more than the sentence.
  spans.length < 2
    ? ""
    : html`<div class="charts${spans.length < 8 ? " few" : ""}">${chart}</div>
${renderKey([swatch("ink", "surely open"), swatch("perhaps", "perhaps open")])}`
}`,
    };
  },
});
