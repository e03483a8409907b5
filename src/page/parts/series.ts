import { grouped } from "../../base/text.ts";
import type { Row } from "./answers.ts";
import { foreign, html, type Markup, shorten } from "./html.ts";
import { kindLabel } from "./kinds.ts";
import { buildHref, buildLink } from "./links.ts";
import { ICONS, icon, momentMs, momentTag, outcomeMark, span } from "./marks.ts";

const STEP = 5;

/**
 * Builds in a row as one picture, the oldest first: up succeeded, down failed, on the line not finished. `of`
 * says which builds, such as "latest · html". `places` is how many fit. @default 20
 */
export function drawStrip(outcomes: readonly string[], of: string, places = 20): Markup {
  const shown = outcomes.slice(-places);
  const width = places * STEP;
  const start = width - shown.length * STEP + 2;
  const path = (draw: string, isOne: (outcome: string) => boolean) =>
    shown.flatMap((outcome, place) => (isOne(outcome) ? [`M${start + place * STEP} ${draw}`] : [])).join("");
  const up = path("10V4", (outcome) => outcome === "succeeded");
  const down = path("12v8", (outcome) => outcome === "failed");
  const mid = path("9.5v3", (outcome) => outcome !== "succeeded" && outcome !== "failed");
  const words = stripWords(shown, of);
  return html`<svg class="wl" role="img" aria-label="${words}" width="${width}" height="22"
    viewBox="0 0 ${width} 22" preserveAspectRatio="xMaxYMid slice"><title>${words}</title>
    <path class="axis" d="M0 11H${width}"/>${up === "" ? "" : html`<path class="up" d="${up}"/>`}
    ${down === "" ? "" : html`<path class="down" d="${down}"/>`}
    ${mid === "" ? "" : html`<path class="mid" d="${mid}"/>`}</svg>`;
}

/** What a strip shows, as a sentence without its verb. */
function stripWords(outcomes: readonly string[], of: string): string {
  const count = (outcome: string) => outcomes.filter((one) => one === outcome).length;
  const [succeeded, failed] = [count("succeeded"), count("failed")];
  const open = outcomes.length - succeeded - failed;
  const newest = outcomes.at(-1);
  if (newest === undefined) return `no builds of ${of}`;
  const ends = `${succeeded} succeeded, ${failed} failed${open > 0 ? `, ${open} not finished` : ""}`;
  return outcomes.length === 1
    ? `the only build of ${of}: ${outcomeMark(newest).word}`
    : `the last ${outcomes.length} of ${of}: ${ends}; the newest: ${outcomeMark(newest).word}`;
}

export interface StripBuild {
  readonly id: string;
  readonly outcome: string;
  /** Which build it is and how it ended, such as "latest · html, 16 Nov 18:13 UTC: Out of memory". */
  readonly words: string;
}

/** Builds in a row as links, the oldest first: 30 a row, fewer on a narrow page. `current` is outlined. */
export function linkStrip(builds: readonly StripBuild[], current?: string): Markup {
  const few = builds.length < 15 ? " few" : "";
  return html`<ol class="strip${few}">${builds.map(({ id, outcome, words }) => {
    const { kind, word } = outcomeMark(outcome);
    const text = shorten(`${id} ${word}, ${words}`, 200);
    return html`<li><a class="${kind}" href="${buildHref(id)}"
      title="${text}"${id === current ? html` aria-current="true"` : ""}>${icon(ICONS[kind])}
      <span class="unseen">${text}</span></a></li>`;
  })}</ol>`;
}

/** Why something fails: the kind of error and its line. The row is one of `report.failing_now`, or has its columns. */
export function renderWhy(row: Row): Markup {
  const line = row.error_line === null ? "" : html`<code>${foreign(String(row.error_line), 180)}</code>`;
  return html`<p class="why"><b>${kindLabel(row.error_class)}</b>${line}</p>`;
}

/** The last build of what fails, how often it failed in a row, and when it was last good; without `now` only whether it ever was. */
export function lastFailed(row: Row, now?: Date): Markup {
  const failures = Number(row.failures);
  const inRow = failures > 1 ? `, ${grouped(failures)} failures in a row` : "";
  const at = now === undefined ? "" : html`, ${momentTag(row.last_failed_at, now)}`;
  const isBrief = now === undefined && row.last_succeeded_build_id !== null;
  return html`<span>build ${buildLink(row.last_failed_build_id)}${at}${inRow}${isBrief ? "" : html` · ${lastGood(row, failures)}`}</span>`;
}

function lastGood(row: Row, failures: number): Markup {
  if (row.last_succeeded_build_id === null)
    return failures === 1 ? html`its first build` : html`never succeeded`;
  const before = momentMs(row.failing_since) - momentMs(row.last_succeeded_at);
  const ago = Number.isNaN(before) ? "" : `, ${span(before)} before`;
  return html`last good ${buildLink(row.last_succeeded_build_id)}${ago}`;
}
