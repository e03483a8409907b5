import type { BuildDescription } from "../../mirror/builds/describe-build.ts";
import type { ExplainedBuild } from "../../mirror/builds/explain-build.ts";
import type { BoundedSpan } from "../../mirror/builds/format-span.ts";
import { formatSpan } from "../../mirror/builds/format-span.ts";
import type { Question } from "../../report/question.ts";
import { momentMs, when } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { secondWords, timeAxis } from "../parts/charts/time-axis.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { counted, type Markup, shorten } from "../parts/words.ts";
import { readLife, type StateSpan } from "./build-lives.ts";
import { newest, renderState } from "./piece-markup.ts";

const [ROW, TOP, BAR] = [34, 9, 16];
/** A build that goes to and fro has its newest states drawn. */
const MOST_DRAWN = 12;
const HOUR_MS = 3_600_000;

/** When a build was in which state, drawn by the bounds of each, with the reason of every bound folded below. */
export function renderStates(
  build: ExplainedBuild,
  sections: BuildDescription["states"],
  question: Question,
  now: Date,
): Markup {
  const life = readLife(build).filter(({ seen }) => seen.every((ms) => !Number.isNaN(ms)));
  const took = build.duration === null ? null : tookWords(build.duration);
  return renderBlock({
    id: "states",
    title: "When",
    note: `${took === null ? "How long it takes is not known yet." : `From the trigger to the finish: ${took}.`} The mirror sees a build only when it looks.`,
    tools: { question },
    body: html`${
      life.length === 0
        ? renderEmpty({ kind: "unknown", strong: "Not known.", say: "The mirror has seen it in no state." })
        : drawLife(life, build, now)
    }
<details class="fold"><summary>How each bound is known</summary>
<p class="note">Each state was entered between two moments. A reply first showed it at the second one.</p>
${newest(sections, (shown) => html`${shown.map(renderState)}`)}</details>`,
  });
}

/** A length of time as far as it is known, in words. */
export function tookWords({ least_ms, most_ms }: BoundedSpan): string {
  if (most_ms === null) return least_ms === 0 ? "not known" : `at least ${formatSpan(least_ms)}`;
  return least_ms === 0
    ? `at most ${formatSpan(most_ms)}`
    : `${formatSpan(least_ms)} to ${formatSpan(most_ms)}`;
}

function drawLife(all: readonly StateSpan[], build: ExplainedBuild, now: Date): Markup {
  const life = all.slice(-MOST_DRAWN);
  const moments = life.flatMap(({ from, seen, until }) => [from, ...seen, until]).filter((ms) => ms !== null);
  const [first, last] = [Math.min(...moments), Math.max(...moments)];
  const length = Math.max(last - first, 1000);
  const axis = timeAxis(first - length * 0.06, last + length * 0.14, now);
  const height = life.length * ROW + 2;
  const triggered = build.date_read === null ? Number.NaN : momentMs(build.date_read.earliest);
  const isTriggerShown = triggered >= first - length * 0.06 && triggered <= last;
  const moment = (ms: number) => (length > 12 * HOUR_MS ? when(ms, now) : secondWords(ms));
  const told = `${isTriggerShown ? `Triggered ${moment(triggered)}. ` : ""}${life.map((span) => tellState(span, moment)).join(" ")}`;
  return html`${all.length > life.length ? html`<p class="note">The last ${life.length} of ${counted(all.length, "state")}.</p>` : ""}<div class="life"><svg width="104" height="${height + 24}" aria-hidden="true">${life.map(
    ({ state }, row) => html`<text class="strong" x="0" y="${row * ROW + 21}">${stateWords(state)}</text>`,
  )}</svg>
<svg class="mini" height="${height + 24}" role="img" aria-label="${told}">
${axis.draw(height)}
${life.map((span, row) => drawState(span, row * ROW + TOP, axis.at))}
${isTriggerShown ? html`<line class="cut" x1="${axis.x(triggered)}" x2="${axis.x(triggered)}" y1="0" y2="${height}"/>` : ""}
</svg></div>
<p class="key">${KEY}${isTriggerShown ? html`<span><svg width="2" height="14" aria-hidden="true"><line class="cut" x1="1" x2="1" y1="0" y2="14"/></svg>triggered ${moment(triggered)}</span>` : ""}</p>`;
}

const KEY = html`<span><svg width="16" height="16" aria-hidden="true"><circle class="dot" cx="8" cy="8" r="7"/></svg>seen in this state</span><span><svg width="26" height="14" aria-hidden="true"><rect class="m-ink" width="26" height="14" rx="2"/></svg>surely in it</span><span><svg width="26" height="14" aria-hidden="true"><rect fill="url(#hatch)" class="m-edge" x="0.5" y="0.5" width="25" height="13" rx="2"/></svg>may have been in it</span>`;

const PERHAPS = html`fill="url(#hatch)" class="m-edge"`;
const SURELY = html`class="m-ink"`;

/** Hatched from the earliest to the latest moment, solid where it surely was, a dot where it was seen. */
function drawState({ from, seen, surely, until }: StateSpan, y: number, at: (ms: number) => number): Markup {
  const bar = (look: Markup, start: number, end: number) =>
    html`<rect ${look} x="${start.toFixed(2)}%" width="${Math.max(0.3, end - start).toFixed(2)}%" y="${y}" height="${BAR}" rx="2"/>`;
  const perhaps = bar(PERHAPS, from === null ? 0 : at(from), until === null ? 100 : at(until));
  const sure =
    surely === null
      ? ""
      : bar(SURELY, at(surely[0]), surely[1] === Number.POSITIVE_INFINITY ? 100 : at(surely[1]));
  return html`${perhaps}${sure}${seen.map((ms) => html`<circle class="dot" cx="${at(ms).toFixed(2)}%" cy="${y + BAR / 2}" r="7"/>`)}
`;
}

function tellState({ state, from, seen, until }: StateSpan, moment: (ms: number) => string): string {
  const [first, last] = [seen[0] ?? 0, seen.at(-1) ?? 0];
  const entered = from === null ? `by ${moment(first)}` : `between ${moment(from)} and ${moment(first)}`;
  const again = last > first ? `, seen in it until ${moment(last)}` : "";
  const left = until === null ? "" : `, left by ${moment(until)}`;
  return `${stateWords(state)}: entered ${entered}${again}${left}.`;
}

const stateWords = (state: string | null): string => (state === null ? "no state" : shorten(state, 14));
