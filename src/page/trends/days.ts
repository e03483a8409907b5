import { grouped } from "../../base/text.ts";
import { wilsonInterval } from "../../report/wilson-interval.ts";
import { dayAxis, spanNoun } from "../parts/axes.ts";
import { block } from "../parts/block.ts";
import { html, type Markup, percent, wholePercent } from "../parts/html.ts";
import { countsBySpan } from "../parts/mini-bars.ts";
import { byDay, NO_BUILDS, outcomesBySpan, outcomesOf, type SpanOutcomes } from "../parts/outcomes.ts";
import { daysName } from "../parts/period.ts";
import { keyEntry, renderKey, swatch } from "../parts/plot.ts";
import { headCell, numberCell, renderFoldTable } from "../parts/tables.ts";
import { brokenWords } from "./compare.ts";
import { drawRateChart, drawTurnsChart, drawVolumeChart, rateFloor } from "./days-charts.ts";
import { askForDays, CHOSEN, type TrendsScope } from "./trends-scope.ts";

/** Rate, volume, and what broke and was fixed, day by day or in longer spans; the same as a table, folded. */
export const days = block({
  id: "days",
  narrowedBy: CHOSEN,
  asks: (scope: TrendsScope) => ({ rows: askForDays(scope) }),
  draw({ rows: known }, { period, type, now }) {
    const spans = outcomesBySpan(known, period);
    const whole = outcomesOf(known, period) ?? NO_BUILDS;
    const before = outcomesOf(known, period.before);
    const [broke, fixed, broken] = [byDay(known, "broke"), byDay(known, "fixed"), brokenWords(type)];
    const axis = dayAxis(spans);
    const cut = period.before === null ? null : axis.begin(period.first);
    const counts = { broke: countsBySpan(spans, broke), fixed: countsBySpan(spans, fixed) };
    const noun = spanNoun(spans);
    const floor = rateFloor(spans);
    const rows = spans.map((span, place) =>
      renderRow(span, counts.broke[place] ?? 0, counts.fixed[place] ?? 0, now),
    );
    const note = [
      period.before === null
        ? "The mirror does not know all of the days before, so they are not here."
        : "The period before is paler, left of the line.",
      noun === "day"
        ? ""
        : `Each mark is ${noun === "28 days" ? "28 days" : `a ${noun}`}, so that they do not run together.`,
    ];
    const few = spans.length < 8 ? " few" : "";
    return {
      title: noun === "day" ? "By day" : noun === "28 days" ? "By 28 days" : `By ${noun}`,
      note: note.join(" ").trim(),
      body: html`<div class="charts${few}"><h3 class="sub">Share of finished builds that succeeded</h3>
${drawRateChart({ spans, axis, cut, whole, before, now })}
<h3 class="sub">Builds${noun === "day" ? "" : " a day"}</h3>
${drawVolumeChart(spans, axis, cut, now)}
<h3 class="sub">${broken}, upwards, and that were fixed, downwards${noun === "day" ? "" : ", a day"}</h3>
${drawTurnsChart(spans, counts, axis, cut, now)}</div>
${renderDaysKey(noun === "28 days" ? "span" : noun, floor)}
${renderFoldTable(
  [
    headCell(noun === "day" ? "Day" : "Days"),
    ...["Succeeded", "Failed", "Not finished", "Rate", "95 % interval", "Broke", "Fixed"].map((head) =>
      headCell(head, "num"),
    ),
  ],
  html`
${rows.reverse().map(
  (row) => html`${row}
`,
)}`,
)}`,
    };
  },
});

function renderDaysKey(noun: string, floor: number): Markup {
  return renderKey([
    keyEntry(
      [26, 14],
      html`<line class="ci" x1="13" x2="13" y1="0" y2="14"/><circle class="dot" cx="13" cy="7" r="4"/>`,
      html`a ${noun} with its 95&nbsp;% interval`,
    ),
    keyEntry(
      [16, 16],
      html`<path class="dot low" d="M8 1.5L14.5 8 8 14.5 1.5 8z"/>`,
      "lower than chance allows",
    ),
    keyEntry([22, 10], html`<line class="mean" x1="0" x2="22" y1="5" y2="5"/>`, "the period as a whole"),
    swatch("good", "succeeded, fixed"),
    swatch("bad", "failed, broke"),
    swatch("unfinished", "not finished"),
    floor === 0 ? "" : html`<span>The axis of the rate begins at ${wholePercent(floor)}.</span>`,
  ]);
}

function renderRow(span: SpanOutcomes, broke: number, fixed: number, now: Date): Markup {
  const { outcomes } = span;
  const name = daysName(span, now);
  if (outcomes === null)
    return html`<tr><th scope="row">${name}</th><td colspan="7">not known: no sync has covered it</td></tr>`;
  const { succeeded, failed, unfinished, finished, isComplete } = outcomes;
  const interval = wilsonInterval(succeeded, finished);
  const words =
    interval === null
      ? ["–", "–"]
      : [percent(succeeded / finished), `${wholePercent(interval.low)} – ${wholePercent(interval.high)}`];
  const counts = [succeeded, failed, unfinished].map(grouped);
  const quiet = isComplete ? "" : html` <small class="quiet">not complete</small>`;
  return html`<tr><th scope="row">${name}${quiet}</th>
    ${[...counts, ...words, grouped(broke), grouped(fixed)].map(numberCell)}</tr>`;
}
