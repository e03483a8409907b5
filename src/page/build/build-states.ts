import { counted } from "../../base/text.ts";
import type { BuildDescription } from "../../mirror/builds/describe-build.ts";
import type { ExplainedBuild } from "../../mirror/builds/explain-build.ts";
import type { BoundedSpan } from "../../mirror/builds/format-span.ts";
import { formatSpan } from "../../mirror/builds/format-span.ts";
import { momentMs, when } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { keyEntry, renderKey } from "../parts/charts/key.ts";
import { LOOKS, type Look, uprightLine } from "../parts/charts/plot.ts";
import { secondWords, timeAxis } from "../parts/charts/time-axis.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import type { Offer } from "../parts/offers.ts";
import { type Markup, shorten } from "../parts/words.ts";
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
  tools: Offer,
  now: Date,
): Markup {
  const life = readLife(build).filter(({ seen }) => seen.every((ms) => !Number.isNaN(ms)));
  const took = build.duration === null ? null : tookWords(build.duration);
  return renderBlock({
    id: "states",
    title: "When",
    note: `${took === null ? "How long it takes is not known yet." : `From the trigger to the finish: ${took}.`} The mirror sees a build only when it looks.`,
    tools,
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
  const names = life.map(
    ({ state }, row) => html`<text class="strong" x="0" y="${row * ROW + 21}">${stateWords(state)}</text>`,
  );
  const count = counted(all.length, "state");
  return html`${all.length > life.length ? html`<p class="note">The last ${life.length} of ${count}.</p>` : ""}
    <div class="life"><svg width="104" height="${height + 24}" aria-hidden="true">${names}</svg>
<svg class="mini" height="${height + 24}" role="img" aria-label="${told}">
${axis.draw(height)}
${life.map((span, row) => drawState(span, row * ROW + TOP, axis.at))}
${isTriggerShown ? uprightLine(axis.x(triggered), height) : ""}
</svg></div>
${renderKey([...KEY, isTriggerShown ? keyEntry([2, 14], uprightLine(1, 14), `triggered ${moment(triggered)}`) : ""])}`;
}

const KEY = [
  keyEntry([16, 16], html`<circle class="dot" cx="8" cy="8" r="7"/>`, "seen in this state"),
  keyEntry([26, 14], html`<rect class="m-ink" width="26" height="14" rx="2"/>`, "surely in it"),
  keyEntry(
    [26, 14],
    html`<rect fill="url(#hatch)" class="m-edge" x="0.5" y="0.5" width="25" height="13" rx="2"/>`,
    "may have been in it",
  ),
];

/** Hatched from the earliest to the latest moment, solid where it surely was, a dot where it was seen. */
function drawState({ from, seen, surely, until }: StateSpan, y: number, at: (ms: number) => number): Markup {
  const bar = (look: Look, start: number, end: number) =>
    html`<rect ${LOOKS[look]} x="${start.toFixed(2)}%" width="${Math.max(0.3, end - start).toFixed(2)}%" y="${y}" height="${BAR}" rx="2"/>`;
  const perhaps = bar("perhaps", from === null ? 0 : at(from), until === null ? 100 : at(until));
  const sure =
    surely === null
      ? ""
      : bar("ink", at(surely[0]), surely[1] === Number.POSITIVE_INFINITY ? 100 : at(surely[1]));
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
