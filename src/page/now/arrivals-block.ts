import { grouped } from "../../base/text.ts";
import { clockWords, momentMs } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { keyEntry, renderKey } from "../parts/charts/key.ts";
import { drawBar, drawPlot, LOOKS, levelLine } from "../parts/charts/plot.ts";
import { headCell, numberCell, renderFoldTable } from "../parts/fold-table.ts";
import { html } from "../parts/html.ts";
import type { Offer } from "../parts/offers.ts";
import type { Row } from "../parts/row.ts";
import type { Markup } from "../parts/words.ts";
import { type Arrivals, sinceWords } from "./arrivals-verdict.ts";

const HEIGHT = 140;
/** Below the words of the last build. */
const TOP = 22;
const BASE = 119;
const HOUR_MS = 3_600_000;

const at = (percent: number): string => `${percent.toFixed(2)}%`;

interface Hour {
  /** In milliseconds. */
  readonly from: number;
  readonly builds: number;
  /** Null where too few days are known. */
  readonly usual: { readonly low: number; readonly high: number } | null;
}

/** What came in each of the last 24 hours, in the band of what is usual. */
export function renderArrivals(rows: readonly Row[], tools: Offer, arrivals: Arrivals, now: Date): Markup {
  const hours = rows.map(readHour).toSorted((one, other) => one.from - other.from);
  const until = clockWords(Math.min(arrivals.lookedAt, now.getTime()));
  return renderBlock({
    id: "arrivals",
    title: "Arrivals by hour, last 24 hours",
    note:
      "Bars: builds triggered in the hour. Band: that hour on 28 days, the highest and lowest tenth left out, working days and weekends " +
      `apart. The last hour ends at ${until}.`,
    tools,
    body: html`${drawHours(hours, arrivals, now)}
${renderKey([
  keyEntry(
    [22, 12],
    html`<rect class="band" width="22" height="12"/><path class="band-edge" d="M0 .75h22M0 11.25h22"/>`,
    "usual",
  ),
  keyEntry([8, 12], html`<rect ${LOOKS.ink} width="8" height="12"/>`, "came"),
  keyEntry([12, 12], html`<circle class="zero" cx="6" cy="6" r="4"/>`, "none came"),
])}
${renderFoldTable({
  title: "The same as a table",
  heads: [headCell("Hour"), headCell("Came", "num"), headCell("Usually", "num")],
  rows: hours.map(
    (hour) =>
      html`<tr><th scope="row">${clockWords(hour.from)}</th>${numberCell(grouped(hour.builds))}${numberCell(usualWords(hour) ?? "–")}</tr>`,
  ),
})}`,
  });
}

function readHour({ hour, builds, usual_low, usual_high }: Row): Hour {
  return {
    from: momentMs(hour),
    builds: Number(builds),
    usual: usual_low === null ? null : { low: Number(usual_low), high: Number(usual_high) },
  };
}

const usualWords = ({ usual }: Hour): string | null =>
  usual &&
  (usual.low === usual.high ? grouped(usual.low) : `${grouped(usual.low)} to ${grouped(usual.high)}`);

function drawHours(hours: readonly Hour[], arrivals: Arrivals, now: Date): Markup {
  const first = hours[0]?.from ?? 0;
  const wide = 100 / Math.max(1, hours.length);
  const most = Math.max(1, ...hours.map(({ builds, usual }) => Math.max(builds, usual?.high ?? 0)));
  const y = (count: number) => BASE - ((BASE - TOP) * count) / most;
  const gone = hours.filter(({ builds }) => builds === 0).length;
  const told =
    `Builds by hour of the last 24, against the usual range. None came in ${gone} of ${hours.length} hours; ` +
    `the last build was at ${sinceWords(arrivals, now)}.`;
  const since = (arrivals.lastBuildAt - first) / HOUR_MS;
  const isAfterMiddle = since > hours.length / 2;
  const lastX = at(Math.max(0, since) * wide);
  const textX = at(Math.max(0, since) * wide + (isAfterMiddle ? -0.6 : 0.6));
  const ticks = [0, Math.round(most / 2), most].filter((tick, place, all) => all.indexOf(tick) === place);
  return drawPlot({
    height: HEIGHT,
    told,
    labels: ticks.map((tick) => ({ y: (y(tick) + 4).toFixed(1), words: grouped(tick) })),
    body: html`${ticks.map((tick) => levelLine(y(tick).toFixed(1)))}
${hours.map(
  (hour, place) => html`${drawBand(hour, place * wide, wide, y)}
${drawCame(hour, place, wide, y)}`,
)}
${levelLine(BASE, "base")}
${
  since < 0
    ? ""
    : html`<line class="since" x1="${lastX}" x2="${lastX}" y1="0" y2="${BASE}"/>
<text class="strong${isAfterMiddle ? " end" : ""}" x="${textX}" y="12">${clockWords(arrivals.lastBuildAt)}, the last build</text>`
}
${hours.map(({ from }, place) => {
  const quiet = place % 8 === 4 ? html` class="t3"` : "";
  return place % 4 === 0
    ? html`<text${quiet} x="${at(place * wide)}" y="${HEIGHT - 4}">${clockWords(from)}</text>`
    : "";
})}`,
  });
}

function drawBand(
  { usual }: Hour,
  from: number,
  wide: number,
  y: (count: number) => number,
): Markup | string {
  if (usual === null) return "";
  const [high, low] = [y(usual.high), y(usual.low)];
  const [x, until] = [at(from), at(from + wide)];
  const edge = (level: number) =>
    html`<line class="band-edge" x1="${x}" x2="${until}" y1="${level.toFixed(1)}" y2="${level.toFixed(1)}"/>`;
  return html`<rect class="band" x="${x}" width="${at(wide)}" y="${high.toFixed(1)}" height="${Math.max(1, low - high).toFixed(1)}"/>
    ${edge(high)}${edge(low)}`;
}

/** A bar with its figures, or a ring where none came. */
function drawCame(hour: Hour, place: number, wide: number, y: (count: number) => number): Markup {
  const usual = usualWords(hour);
  const words = `${clockWords(hour.from)}: ${hour.builds === 0 ? "none" : grouped(hour.builds)}${usual === null ? "" : `, usually ${usual}`}`;
  if (hour.builds === 0)
    return html`<circle class="zero" cx="${at((place + 0.5) * wide)}" cy="${BASE}" r="3.5"><title>${words}</title></circle>`;
  const top = y(hour.builds);
  const span = { x: at((place + 0.3) * wide), width: at(0.4 * wide) };
  return html`<g><title>${words}</title>${drawBar("ink", span, top.toFixed(1), BASE - top)}</g>`;
}
