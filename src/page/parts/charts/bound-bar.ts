import { formatBetween } from "../../../mirror/builds/format-span.ts";
import { html } from "../html.ts";
import type { Markup } from "../words.ts";
import { keyEntry, renderKey } from "./key.ts";
import { uprightLine } from "./plot.ts";

/** The ticks of the axis, in seconds; those with a class are left out on a narrow page. */
const TICKS = [
  { s: 10, words: "10 s", kind: "" },
  { s: 60, words: "1 min", kind: "mid t2" },
  { s: 600, words: "10 min", kind: "mid" },
  { s: 3600, words: "1 h", kind: "mid t3" },
  { s: 21_600, words: "6 h", kind: "mid t2" },
  { s: 86_400, words: "1 d", kind: "end" },
];
const [FIRST, LAST] = [10, 86_400];

const at = (seconds: number): number =>
  (100 * Math.log(Math.min(LAST, Math.max(FIRST, seconds)) / FIRST)) / Math.log(LAST / FIRST);
const x = (seconds: number): string => `${at(seconds).toFixed(2)}%`;

/** A length of time that is known between two bounds, in seconds: solid surely, hatched perhaps. */
export function drawBound(least: number, most: number | null): Markup {
  const told = formatBetween({ least_ms: least * 1000, most_ms: most === null ? null : most * 1000 });
  const upTo = most ?? LAST;
  const perhaps = Math.max(0.5, at(upTo) - at(least)).toFixed(2);
  return html`<svg class="mini" height="16" role="img" aria-label="${told}">
    ${TICKS.map(({ s }) => uprightLine(x(s), 16, "grid"))}
    ${at(least) > 0 ? html`<rect class="m-ink" x="0" width="${x(least)}" y="4" height="8" rx="1"/>` : ""}
    <rect fill="url(#hatch)" class="m-edge" x="${x(least)}" width="${perhaps}%" y="4" height="8"/></svg>`;
}

/** The axis of such bars: 10 seconds to a day, on a logarithmic scale. */
export function drawBoundAxis(): Markup {
  const labels = TICKS.map(
    ({ s, words, kind }) => html`<text class="${kind}" x="${x(s)}" y="12">${words}</text>`,
  );
  return html`<li class="bound-axis" aria-hidden="true">
    <span></span><svg class="mini" height="16">${labels}</svg><span></span></li>`;
}

/** What the two parts of such bars mean. */
export function renderBoundKey(surely: string, perhaps: string): Markup {
  return renderKey([
    keyEntry([20, 10], html`<rect class="m-ink" width="20" height="8" y="1"/>`, surely),
    keyEntry(
      [20, 10],
      html`<rect fill="url(#hatch)" class="m-edge" x="0.5" y="1.5" width="19" height="7"/>`,
      perhaps,
    ),
  ]);
}
