/** Lengths of time that are known between two bounds. */
import { scaleLog } from "d3-scale";
import { counted } from "../../base/text.ts";
import { type BoundedSpan, formatSpan } from "../../mirror/builds/format-span.ts";
import type { Empty } from "./block.ts";
import { keyEntry, renderKey, uprightLine } from "./charts.ts";
import { html, type Markup } from "./html.ts";
import { buildLink } from "./links.ts";
import { outcomeSign } from "./marks.ts";

/** The ticks of the axis, in seconds. */
const TICKS = [
  [1, "1 s"],
  [10, "10 s"],
  [60, "1 min"],
  [600, "10 min"],
  [3600, "1 h"],
  [21_600, "6 h"],
  [86_400, "1 d"],
  [604_800, "7 d"],
  [2_592_000, "30 d"],
  [31_536_000, "1 y"],
] as const;

/** A length of time that is known between two bounds, in seconds. */
export interface Bound {
  readonly least: number;
  readonly most: number;
}

/**
 * A logarithmic axis from the tick before some times to the one behind them, or to the longest of them, over a range of places. Shorter times are
 * at its begin.
 */
export function timesAxis(bounds: readonly Bound[], range: readonly [from: number, to: number]) {
  const least = Math.min(...bounds.map(({ least, most }) => (least >= 1 ? least : Math.max(1, most))));
  const most = Math.max(...bounds.map(({ most }) => most));
  const from = Math.max(
    0,
    TICKS.findLastIndex(([s]) => s < least),
  );
  const to = TICKS.findIndex(([s]) => s >= most);
  const ticks = TICKS.slice(from, Math.max(from + 2, to === -1 ? TICKS.length : to + 1));
  const [[first] = [1], [last] = [1]] = [ticks[0], ticks.at(-1)];
  const scale = scaleLog([first, Math.max(last, most)], range);
  const at = (seconds: number): number => scale(Math.max(first, seconds));
  return { at, ticks: ticks.map(([s, words]) => ({ at: at(s), words })) };
}

export interface BoundRow {
  readonly label: Markup | string;
  readonly bound: Bound;
}

/** Times as a list of bars on one axis, each between its label and its words. */
export function boundList(rows: readonly BoundRow[], kind = "bounds"): Markup {
  const axis = timesAxis(
    rows.map(({ bound }) => bound),
    [0, 100],
  );
  const x = (at: number) => `${at.toFixed(2)}%`;
  const draw = (bound: Bound) => {
    const [least, most] = [axis.at(bound.least), axis.at(bound.most)];
    const perhaps = Math.max(0.5, most - least).toFixed(2);
    return html`<svg class="mini" height="16" role="img" aria-label="${boundWords(bound)}">
    ${axis.ticks.map(({ at }) => uprightLine(x(at), 16, "grid"))}
    ${least > 0 && html`<rect class="m-ink" x="0" width="${x(least)}" y="4" height="8" rx="1"/>`}
    <rect fill="url(#hatch)" class="m-edge" x="${x(least)}" width="${perhaps}%" y="4" height="8"/></svg>`;
  };
  return html`<ul class="${kind}">
    <li class="bound-axis" aria-hidden="true"><span></span><svg class="mini" height="16">${axis.ticks.map(
      ({ at, words }, place) =>
        html`<text class="${tickClass(place, axis.ticks.length, at)}" x="${x(at)}" y="12">${words}</text>`,
    )}</svg><span></span></li>${rows.map(
      ({ label, bound }) =>
        html`<li><span>${label}</span>${draw(bound)}<span class="n">${boundWords(bound)}</span></li>`,
    )}</ul>`;
}

/** A time between two bounds in words: `1 min 5 s to 3 min 0 s`, `at most 30.0 s`. */
export const boundWords = ({ least, most }: Bound): string =>
  tookWords({ least_ms: least * 1000, most_ms: most * 1000 });

/** The same of a time that may have no known end. */
export function tookWords({ least_ms, most_ms }: BoundedSpan): string {
  const least = spanWords(least_ms);
  if (most_ms === null) return least_ms === 0 ? "not known" : `at least ${least}`;
  const most = spanWords(most_ms);
  if (least === most) return least;
  return least_ms === 0 ? `at most ${most}` : `${least} to ${most}`;
}

/** A span that no line breaks in two: a unit alone says nothing. */
const spanWords = (ms: number): string => formatSpan(ms).replaceAll(" ", "\u00a0");

/** Says why no time of some builds is known: those `of` a project, or of some days. */
export const unknownTimes = (finished: number, of: string): Empty => [
  "unknown",
  "Not known.",
  finished === 0
    ? `No build ${of} has finished.`
    : html`Of ${counted(finished, "finished build")} no time is known to within ${KNOWN_WITHIN}: that takes <code>docmirror watch</code>.`,
];

/** A build whose time is known. */
export interface TimedBuild {
  readonly build_id: string;
  readonly outcome: string;
  readonly duration_s_min: number;
  readonly duration_s_max: number;
}

/** Builds as rows of such a list. */
export const timedRows = (builds: readonly TimedBuild[]): BoundRow[] =>
  builds.map(({ build_id, outcome, duration_s_min: least, duration_s_max: most }) => ({
    label: html`${outcomeSign(outcome)} ${buildLink(build_id)}`,
    bound: { least, most },
  }));

/** The attribute of the words of a tick. Every second one is left out where the page is narrow. */
function tickClass(place: number, count: number, at: number): string {
  if (place === 0) return "";
  if (at > 97) return "end";
  return count > 4 && place % 2 === 1 ? "mid t2" : "mid";
}

/** The meaning of the two parts of such bars. */
export function renderBoundKey(surely: string, perhaps: string): Markup {
  const open = html`<rect fill="url(#hatch)" class="m-edge" x="0.5" y="1.5" width="19" height="7"/>`;
  const sure = html`<rect class="m-ink" width="20" height="8" y="1"/>`;
  return renderKey([keyEntry([20, 10], sure, surely), keyEntry([20, 10], open, perhaps)]);
}

/**
 * A time between two bounds is shown where they are so near each other, in seconds. Wider bounds say when somebody
 * looked, not how long a build took. A watch looks each minute.
 */
export const KNOWN_WITHIN_S = 300;
export const KNOWN_WITHIN = "five minutes";
