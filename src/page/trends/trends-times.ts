import type { Question } from "../../report/question.ts";
import { renderBlock } from "../parts/block.ts";
import { drawBound, drawBoundAxis, renderBoundKey } from "../parts/charts/bound-bar.ts";
import { renderEmpty } from "../parts/empty.ts";
import { headCell, numberCell, renderFoldTable } from "../parts/fold-table.ts";
import { html } from "../parts/html.ts";
import type { Query } from "../parts/links.ts";
import { dayNumber, daysName, type Period } from "../parts/period.ts";
import type { Row } from "../parts/row.ts";
import { counted, grouped, type Markup } from "../parts/words.ts";
import { type BoundSpan, drawDurationChart } from "./duration-chart.ts";
import { durationWords, lengthOf } from "./duration-words.ts";
import { LATE_DAYS } from "./trends-questions.ts";

interface TimesFacts {
  readonly rows: readonly Row[];
  readonly period: Period;
  readonly question: Question;
  readonly filters: Query;
  readonly now: Date;
}

interface MeasuredSpan extends BoundSpan {
  readonly finished: number;
  readonly p90: { readonly least: number; readonly most: number | null };
}

const UNWATCHED = html`<p class="note">True times are likely much shorter: nobody looked between trigger and finish.
  <code>docmirror watch</code> looks each minute, and narrows the bounds to that.</p>`;

/** How long builds took, by day; by week where the rows are those of a format. */
export function renderTimes({ rows, period, question, filters, now }: TimesFacts): Markup {
  const spans = spansOf(rows);
  const last = spans.at(-1);
  const isWeekly = spans.some(({ days }) => days > 1);
  const body =
    last === undefined
      ? renderEmpty({ kind: "unknown", strong: "Not known.", say: "No build of this period has finished." })
      : html`<p class="took">On a middle ${isWeekly ? "week" : "day"}, half of the builds took
        <b>${middleWords(spans, ({ least, most }) => ({ least, most }))}</b>, nine of ten
        <b>${middleWords(spans, ({ p90 }) => p90)}</b>.</p>
${spans.every(({ least }) => least < 1) ? UNWATCHED : ""}
<h3 class="sub">How long half of the builds took</h3>
<div class="charts${spans.length < 8 ? " few" : ""}">${drawDurationChart(spans, now)}</div>
${KEY}
${renderFoldTable({
  title: "The times as a table",
  heads: [
    headCell(isWeekly ? "Week" : "Day"),
    headCell("Half took"),
    headCell("Nine of ten took"),
    headCell("Builds", "num"),
  ],
  rows: spans.toReversed().map(
    ({ least, most, p90, finished, ...span }) => html`<tr><th scope="row">${daysName(span, now)}</th>
      <td>${durationWords(least, most)}</td><td>${durationWords(p90.least, p90.most)}</td>
      ${numberCell(finished)}</tr>`,
  ),
})}`;
  return renderBlock({
    id: "durations",
    title: "How long builds take",
    count: daysName(period, now),
    note: "From the trigger to the finish. The truth lies between two bounds.",
    tools: { question, filters },
    body,
  });
}

function spansOf(rows: readonly Row[]): MeasuredSpan[] {
  const bound = (row: Row, name: string) => (row[name] === null ? null : Number(row[name]));
  return rows
    .filter((row) => Number(row.finished ?? 0) > 0 && row.p50_s_min !== null)
    .map((row) => {
      const first = dayNumber(row.day ?? row.week);
      const days = row.day === undefined ? 7 : 1;
      return {
        first,
        last: first + days - 1,
        days,
        isBefore: false,
        finished: Number(row.finished),
        least: Number(row.p50_s_min),
        most: bound(row, "p50_s_max"),
        p90: { least: Number(row.p90_s_min ?? 0), most: bound(row, "p90_s_max") },
      };
    })
    .sort((a, b) => a.first - b.first);
}

/** The middle of what the days say, as bounds in words. */
function middleWords(
  spans: readonly MeasuredSpan[],
  of: (span: MeasuredSpan) => { least: number; most: number | null },
): string {
  const middle = (values: number[]) => values.sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;
  const most = middle(spans.map((span) => of(span).most ?? Number.POSITIVE_INFINITY));
  return durationWords(middle(spans.map((span) => of(span).least)), Number.isFinite(most) ? most : null);
}

const KEY = renderBoundKey("surely so long", "perhaps so long");

/** How long builds waited, and how long they worked. */
export function renderPhases({ rows, period, question, filters, now }: TimesFacts): Markup {
  const [row] = rows;
  const finished = Number(row?.finished ?? 0);
  const bound = (column: string): number | null => {
    const value = Number(row?.[column] ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(value) ? value : null;
  };
  const phase = (name: string, label: string) =>
    (["p50", "p90"] as const).map((place) => {
      const [least, most] = [bound(`${name}_s_min_${place}`) ?? 0, bound(`${name}_s_max_${place}`)];
      return html`<li><span>${label}, ${place === "p50" ? "half" : "nine of ten"}</span>
        ${drawBound(least, most)}<span class="n">${durationWords(least, most)}</span></li>`;
    });
  const first = Math.max(period.first, period.last - LATE_DAYS + 1);
  const body =
    finished === 0
      ? renderEmpty({
          kind: "unknown",
          strong: "Not known.",
          say: "No build of these days has finished whose states are known.",
        })
      : html`<ul class="bounds phases">${drawBoundAxis()}${phase("queued", "Waited")}${phase("building", "Worked")}</ul>
${KEY}`;
  return renderBlock({
    id: "phases",
    title: "Waiting and working",
    count: daysName({ first, last: period.last }, now),
    note: html`Of ${counted(finished, "finished build")}. The service names no queue: a build waits until it is seen at work.`,
    tools: { question, filters },
    body,
  });
}

/** How long what breaks stays broken, by the month in which it broke. */
export function renderRepairs({ rows, question }: Pick<TimesFacts, "rows" | "question">): Markup {
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
  return renderBlock({
    id: "repairs",
    title: "Time to recover",
    note: "From trigger to trigger, streaks that are still open included, by whole months.",
    tools: { question },
    body,
  });
}
