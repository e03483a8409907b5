import { type SQL, sql } from "drizzle-orm";
import { formatBetween } from "../../mirror/builds/format-span.ts";
import { inline } from "../../report/ask.ts";
import { keyEntry, renderKey, uprightLine } from "./charts.ts";
import { html, type Markup } from "./html.ts";

/** The ticks of the axis, in seconds. */
const TICKS = [
  { s: 1, words: "1 s" },
  { s: 10, words: "10 s" },
  { s: 60, words: "1 min" },
  { s: 600, words: "10 min" },
  { s: 3600, words: "1 h" },
  { s: 21_600, words: "6 h" },
  { s: 86_400, words: "1 d" },
  { s: 604_800, words: "7 d" },
  { s: 2_592_000, words: "30 d" },
  { s: 31_536_000, words: "1 y" },
];

/** A length of time that is known between two bounds, in seconds. */
export interface Bound {
  readonly least: number;
  readonly most: number;
}

/** The ticks around some times: a logarithmic axis begins and ends where these do. */
export function ticksAround(bounds: readonly Bound[]): typeof TICKS {
  const least = Math.min(...bounds.map(({ least, most }) => (least >= 1 ? least : Math.max(1, most))));
  const most = Math.max(...bounds.map(({ most }) => most));
  const below = TICKS.findLastIndex(({ s }) => s < least);
  const from = Math.max(0, below);
  const to = TICKS.findIndex(({ s }) => s >= most);
  return TICKS.slice(from, Math.max(from + 2, to === -1 ? TICKS.length : to + 1));
}

interface BoundRow {
  readonly label: Markup | string;
  readonly bound: Bound;
  readonly words: string;
}

/** Times as a list of bars on one axis, each between its label and its words. */
export function boundList(rows: readonly BoundRow[], kind = "bounds"): Markup {
  const bounds = rows.map(({ bound }) => bound);
  const ticks = ticksAround(bounds);
  const first = ticks[0]?.s ?? 1;
  const last = Math.max(ticks.at(-1)?.s ?? 1, ...bounds.map(({ most }) => most));
  const at = (seconds: number) => (100 * Math.log(Math.max(first, seconds) / first)) / Math.log(last / first);
  const x = (seconds: number) => `${at(seconds).toFixed(2)}%`;
  const places = ticks.map((tick, place) => ({ ...tick, kind: kindOf(place, ticks.length, at(tick.s)) }));
  const draw = ({ least, most }: Bound) => {
    const told = formatBetween({ least_ms: least * 1000, most_ms: most * 1000 });
    const perhaps = Math.max(0.5, at(most) - at(least)).toFixed(2);
    return html`<svg class="mini" height="16" role="img" aria-label="${told}">
    ${ticks.map(({ s }) => uprightLine(x(s), 16, "grid"))}
    ${at(least) > 0 ? html`<rect class="m-ink" x="0" width="${x(least)}" y="4" height="8" rx="1"/>` : ""}
    <rect fill="url(#hatch)" class="m-edge" x="${x(least)}" width="${perhaps}%" y="4" height="8"/></svg>`;
  };
  return html`<ul class="${kind}">
    <li class="bound-axis" aria-hidden="true"><span></span><svg class="mini" height="16">${places.map(
      ({ s, words, kind }) => html`<text class="${kind}" x="${x(s)}" y="12">${words}</text>`,
    )}</svg><span></span></li>${rows.map(
      ({ label, bound, words }) =>
        html`<li><span>${label}</span>${draw(bound)}<span class="n">${words}</span></li>`,
    )}</ul>`;
}

/** How the words of a tick stand. Every second one is left out where the page is narrow. */
function kindOf(place: number, count: number, at: number): string {
  if (place === 0) return "";
  if (at > 97) return "end";
  return count > 4 && place % 2 === 1 ? "mid t2" : "mid";
}

/** What the two parts of such bars mean. */
export function renderBoundKey(surely: string, perhaps: string): Markup {
  const open = html`<rect fill="url(#hatch)" class="m-edge" x="0.5" y="1.5" width="19" height="7"/>`;
  const sure = html`<rect class="m-ink" width="20" height="8" y="1"/>`;
  return renderKey([keyEntry([20, 10], sure, surely), keyEntry([20, 10], open, perhaps)]);
}

/**
 * A time between two bounds is shown where they are so near each other, in seconds. Wider bounds tell when somebody
 * looked, not how long a build took. A watch looks each minute.
 */
const KNOWN_WITHIN_S = 300;
export const KNOWN_WITHIN = "five minutes";

/** Whether the bounds of a time are near enough. */
export const isKnownTime = (least: SQL, most: SQL): SQL =>
  sql`${most} - ${least} <= ${inline(KNOWN_WITHIN_S)}`;
