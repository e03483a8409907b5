import { type SQL, sql } from "drizzle-orm";
import { ask } from "../../report/ask.ts";
import type { Question } from "../../report/question.ts";
import { inline, pick, relation } from "../../report/relation.ts";
import { block } from "../parts/block.ts";
import { boundBars } from "../parts/charts/bound-bar.ts";
import { headCell, numberCell, renderFoldTable } from "../parts/fold-table.ts";
import { html } from "../parts/html.ts";
import { mark, outcomeMark } from "../parts/mark.ts";
import { dayNumber, daysName, type Period } from "../parts/period.ts";
import { within } from "../parts/questions/days.ts";
import { isKnownTime } from "../parts/questions/known-times.ts";
import { buildLink } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import type { Markup } from "../parts/words.ts";
import { drawDurationChart } from "./duration-chart.ts";
import { durationWords } from "./duration-words.ts";
import { boundOf, KEY, percentiles, renderKnown, renderUnknown } from "./times-parts.ts";
import { CHOSEN, lateOf, type TrendsScope } from "./trends-scope.ts";

const build = relation("fact_builds");
const SHOWN_BUILDS = 12;
/** Builds of fewer days are shown one by one. */
const FEWEST_DAYS = 3;

/** How long builds take, day by day, or each of them where those are few. */
export const durations = block({
  id: "durations",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => ({
    rows: askForTimes(scope.period, scope.type),
    timed: askForTimed(scope.period, scope.type),
  }),
  draw({ rows, timed }, { period, now }) {
    const whole = rows.find(({ day }) => day === null);
    const [finished, known] = [Number(whole?.finished ?? 0), Number(whole?.known ?? 0)];
    const days = rows.filter((row) => row.day !== null && Number(row.known) > 0);
    const body =
      whole === undefined || known === 0
        ? renderUnknown(finished)
        : html`<p class="took">${
            known === 1
              ? html`The one build that is known took <b>${durationWords(boundOf(whole, "took_p50"))}</b>.`
              : html`Half of the builds whose times are known took
              <b>${durationWords(boundOf(whole, "took_p50"))}</b>, nine of ten <b>${durationWords(boundOf(whole, "took_p90"))}</b>.`
          }</p>
${renderKnown(known, finished)}
${days.length < FEWEST_DAYS ? renderTimed(timed, known) : renderTimesByDay(days, now)}`;
    return {
      title: "How long builds take",
      count: daysName(lateOf(period), now),
      note: "From the trigger to the finish. The truth lies between two bounds.",
      body,
    };
  },
});

const isTimed = isKnownTime(build.duration_s_min, build.duration_s_max);

const finishedLately = (period: Period, type: string | undefined): SQL =>
  sql`${build.duration_s_min} is not null
  and ${within(build.triggered_on, lateOf(period).first, period.last)}${type === undefined ? undefined : sql` and ${build.type} = ${type}`}`;

/** How long builds took whose times are known, by day; the row without a day is about all of them. */
function askForTimes(period: Period, type: string | undefined): Question {
  return ask("fact_builds")`
select ${build.triggered_on} as day, count(*) as finished, count(*) filter (where ${isTimed}) as known,
  ${percentiles("took", build.duration_s_min, build.duration_s_max, isTimed)}
from ${build}
where ${finishedLately(period, type)}
group by grouping sets ((day), ())
order by day nulls first`;
}

/** The newest builds whose times are known. */
function askForTimed(period: Period, type: string | undefined): Question {
  return ask("fact_builds")`
select ${pick(build, "build_id", "outcome", "duration_s_min", "duration_s_max")}
from ${build}
where ${finishedLately(period, type)} and ${isTimed}
order by ${build.triggered_at} desc, ${build.build_id}
limit ${inline(SHOWN_BUILDS)}`;
}

function renderTimed(timed: readonly Row[], known: number): Markup {
  const bound = (row: Row) => ({ least: Number(row.duration_s_min), most: Number(row.duration_s_max) });
  const bars = boundBars(timed.map(bound));
  return html`<h3 class="sub">${known > timed.length ? `The newest ${timed.length} of them` : "Each of them"}</h3>
<ul class="bounds">${bars.axis}${timed.map((row) => {
    const { kind, word } = outcomeMark(row.outcome);
    return html`<li><span>${mark(kind, word)} ${buildLink(row.build_id)}</span>${bars.draw(bound(row))}
      <span class="n">${durationWords(bound(row))}</span></li>`;
  })}</ul>
${KEY}`;
}

function renderTimesByDay(rows: readonly Row[], now: Date): Markup {
  const days = rows.map((row) => {
    const day = dayNumber(row.day);
    const of = { first: day, last: day, days: 1, isBefore: false, known: Number(row.known) };
    return { ...of, ...boundOf(row, "took_p50"), p90: boundOf(row, "took_p90") };
  });
  return html`<h3 class="sub">How long half of them took</h3>
<div class="charts${days.length < 8 ? " few" : ""}">${drawDurationChart(days, now)}</div>
${KEY}
${renderFoldTable({
  title: "The times as a table",
  heads: [headCell("Day"), headCell("Half took"), headCell("Nine of ten took"), headCell("Builds", "num")],
  rows: days.toReversed().map(
    (day) => html`<tr><th scope="row">${daysName(day, now)}</th>
      <td>${durationWords(day)}</td><td>${durationWords(day.p90)}</td>${numberCell(day.known)}</tr>`,
  ),
})}`;
}
