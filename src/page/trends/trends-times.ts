import { counted, grouped } from "../../base/counted.ts";
import { renderBlock } from "../parts/block.ts";
import { type Bound, boundBars, renderBoundKey } from "../parts/charts/bound-bar.ts";
import { renderEmpty } from "../parts/empty.ts";
import { headCell, numberCell, renderFoldTable } from "../parts/fold-table.ts";
import { html } from "../parts/html.ts";
import { mark, outcomeMark } from "../parts/mark.ts";
import type { Offer } from "../parts/offers.ts";
import { dayNumber, daysName, type Period } from "../parts/period.ts";
import { KNOWN_WITHIN } from "../parts/questions/known-times.ts";
import { buildLink } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { type Markup, percent } from "../parts/words.ts";
import { drawDurationChart } from "./duration-chart.ts";
import { durationWords, lengthOf } from "./duration-words.ts";
import { lateOf } from "./trends-questions.ts";

interface TimesFacts {
  readonly rows: readonly Row[];
  readonly period: Period;
  readonly tools: Offer;
  readonly now: Date;
}

const UNWATCHED = html`nobody looked between trigger and finish. <code>docmirror watch</code> looks each minute.`;
const KEY = renderBoundKey("surely so long", "perhaps so long");
/** Builds of fewer days are shown one by one. */
const FEWEST_DAYS = 3;

/** How many builds the figures are about, of all that finished; a command where those are few. */
function renderKnown(known: number, finished: number): Markup {
  const share = known / finished;
  return html`<p class="note">Known to within ${KNOWN_WITHIN}: ${grouped(known)} of the ${counted(finished, "build")} that finished,
    ${percent(share)}.${share < 0.5 ? html` Of the others it is not known: ${UNWATCHED}` : ""}</p>`;
}

/** That no time is known, in one line. */
function renderUnknown(finished: number): Markup {
  return renderEmpty({
    kind: "unknown",
    strong: "Not known.",
    say:
      finished === 0
        ? "No build of these days has finished."
        : html`The times of none of the ${counted(finished, "finished build")} are known to within ${KNOWN_WITHIN}: ${UNWATCHED}`,
  });
}

const boundOf = (row: Row, name: string): Bound => ({
  least: Number(row[`${name}_least`]),
  most: Number(row[`${name}_most`]),
});

/** How long builds took whose times are known: half, nine of ten; by day, or each of them where those are few. */
export function renderTimes({
  rows,
  timed,
  period,
  tools,
  now,
}: TimesFacts & { readonly timed: readonly Row[] }): Markup {
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
  return renderBlock({
    id: "durations",
    title: "How long builds take",
    count: daysName(lateOf(period), now),
    note: "From the trigger to the finish. The truth lies between two bounds.",
    tools,
    body,
  });
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

/** How long builds waited, and how long they worked, where both are known. */
export function renderPhases({ rows, period, tools, now }: TimesFacts): Markup {
  const [row] = rows;
  const [finished, known] = [Number(row?.finished ?? 0), Number(row?.known ?? 0)];
  const shown =
    row === undefined || known === 0
      ? []
      : [
          ["Waited, half", boundOf(row, "queued_p50")] as const,
          ["Waited, nine of ten", boundOf(row, "queued_p90")] as const,
          ["Worked, half", boundOf(row, "building_p50")] as const,
          ["Worked, nine of ten", boundOf(row, "building_p90")] as const,
        ];
  const bars = boundBars(shown.map(([, bound]) => bound));
  return renderBlock({
    id: "phases",
    title: "Waiting and working",
    count: daysName(lateOf(period), now),
    note: "The service names no queue: a build waits until it is seen at work.",
    tools,
    body:
      shown.length === 0
        ? renderUnknown(finished)
        : html`${renderKnown(known, finished)}
<ul class="bounds phases">${bars.axis}${shown.map(
            ([label, bound]) =>
              html`<li><span>${label}</span>${bars.draw(bound)}<span class="n">${durationWords(bound)}</span></li>`,
          )}</ul>
${KEY}`,
  });
}

/** How long what breaks stays broken, by the month in which it broke. */
export function renderRepairs({ rows, tools }: Pick<TimesFacts, "rows" | "tools">): Markup {
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
    tools,
    body,
  });
}
