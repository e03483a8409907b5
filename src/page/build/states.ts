import { counted } from "../../base/text.ts";
import { type ExplainedBuild, endOf } from "../../mirror/builds/explain-build.ts";
import { ask, pick, type Question, relation } from "../../report/ask.ts";
import { isFinalStage } from "../../resources/build-states.ts";
import { block, renderNoRows } from "../parts/block.ts";
import { tookWords } from "../parts/bounds.ts";
import { askForBuild } from "../parts/builds.ts";
import {
  BAR_LOOKS,
  type BarLook,
  drawTimeline,
  keyEntry,
  renderKey,
  timeAxis,
  uprightLine,
} from "../parts/charts.ts";
import { html, type Markup, shorten } from "../parts/html.ts";
import { HOUR_MS, momentMs, secondWords, when } from "../parts/marks.ts";
import type { BuildSaid, BuildScope } from "./build-scope.ts";
import { renderStates } from "./build-verdict.ts";

const fact = relation("fact_builds");
const [ROW, TOP, BAR] = [34, 9, 16];
/** A build that goes to and fro has its newest states drawn. */
const MOST_DRAWN = 12;

/** The states of a build in time, drawn by the bounds of each, with the reason of every bound folded below. */
export const states = block({
  id: "states",
  file: ({ id, fact }) => (fact === undefined ? askForBuild(id) : askForTimes(id)),
  draw(_found, { now }: BuildScope, { build, description }: BuildSaid) {
    const life = readLife(build).filter(({ seen }) => seen.every((ms) => !Number.isNaN(ms)));
    const took = build.duration === null ? null : tookWords(build.duration);
    return {
      title: "When",
      note: `${took === null ? "How long it takes is not known yet." : `From the trigger to the finish: ${took}.`} The mirror sees a build only when it looks.`,
      body: html`${
        life.length === 0
          ? renderNoRows("unknown", "Not known.", "The mirror has seen it in no state.")
          : drawLife(life, build, now)
      }
<details class="fold"><summary>How each bound is known</summary>
<p class="note">Each state was entered between two moments. A reply first showed it at the second one.</p>
${renderStates(description.states)}</details>`,
    };
  },
});

const askForTimes = (id: string): Question => ask`
select ${pick(fact, "state", "triggered_at", "finished_after", "finished_before", "duration_s_min", "duration_s_max")}
from ${fact}
where ${fact.build_id} = ${id}`;

function drawLife(all: readonly StateSpan[], build: ExplainedBuild, now: Date): Markup {
  const life = all.slice(-MOST_DRAWN);
  const moments = life.flatMap(({ from, seen, until }) => [from, ...seen, until]).filter((ms) => ms !== null);
  const [first, last] = [Math.min(...moments), Math.max(...moments)];
  const length = Math.max(last - first, 1000);
  const begin = first - length * 0.06;
  const axis = timeAxis(begin, last + length * 0.14, now);
  const height = life.length * ROW + 2;
  const triggered = momentMs(build.date_read?.earliest);
  const isTriggerShown = triggered >= begin && triggered <= last;
  const moment = (ms: number) => (length > 12 * HOUR_MS ? when(ms, now) : secondWords(ms));
  return html`${all.length > life.length && html`<p class="note">The last ${life.length} of ${counted(all.length, "state")}.</p>`}
    ${drawTimeline({
      names: life.map(({ state }, row) => ({ y: row * ROW + 21, words: stateWords(state) })),
      height,
      told: `${isTriggerShown ? `Triggered ${moment(triggered)}. ` : ""}${life.map((span) => tellState(span, moment)).join(" ")}`,
      axis,
      body: html`${life.map((span, row) => drawState(span, row * ROW + TOP, axis.at))}
${isTriggerShown && uprightLine(axis.x(triggered), height)}`,
    })}
${renderKey([...KEY, isTriggerShown && keyEntry([2, 14], uprightLine(1, 14), `triggered ${moment(triggered)}`)])}`;
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
  const bar = (look: BarLook, start: number, end: number) =>
    html`<rect ${BAR_LOOKS[look]} x="${start.toFixed(2)}%" width="${Math.max(0.3, end - start).toFixed(2)}%" y="${y}" height="${BAR}" rx="2"/>`;
  const perhaps = bar("perhaps", from === null ? 0 : at(from), until === null ? 100 : at(until));
  const sure =
    surely && bar("ink", at(surely[0]), surely[1] === Number.POSITIVE_INFINITY ? 100 : at(surely[1]));
  return html`${perhaps}${sure}${seen.map((ms) => html`<circle class="dot" cx="${at(ms).toFixed(2)}%" cy="${y + BAR / 2}" r="7"/>`)}
`;
}

function tellState({ state, from, seen, until }: StateSpan, moment: (ms: number) => string): string {
  const [first, last = first] = seen;
  const entered = from === null ? `by ${moment(first)}` : `between ${moment(from)} and ${moment(first)}`;
  const again = last > first ? `, seen in it until ${moment(last)}` : "";
  const left = until === null ? "" : `, left by ${moment(until)}`;
  return `${stateWords(state)}: entered ${entered}${again}${left}.`;
}

const stateWords = (state: string | null): string => (state === null ? "no state" : shorten(state, 14));

/** A state that a build entered, with the times when it may have been in it, and surely was; in milliseconds since 1970. */
interface StateSpan {
  readonly state: string | null;
  /** The earliest moment; null where nothing is known. */
  readonly from: number | null;
  /** Seen in it at these moments, the first and the last. */
  readonly seen: readonly [first: number] | readonly [first: number, last: number];
  /** Null where it was seen only once, and may have left at once. */
  readonly surely: readonly [from: number, until: number] | null;
  /** The latest moment; null where it may still be in it. */
  readonly until: number | null;
}

export const readLife = ({ transitions, open, state, stage }: ExplainedBuild): StateSpan[] =>
  transitions.map(({ to_state, not_before, not_after }, place) => {
    const next = transitions[place + 1];
    const first = momentMs(not_after);
    const last = finite(
      next === undefined ? open?.last_seen.asked_at : next.rule === "last_seen" ? next.not_before : null,
    );
    const seen = last !== null && last > first ? ([first, last] as const) : null;
    const isOver = next === undefined && to_state === state && stage !== null && isFinalStage(stage);
    return {
      state: to_state,
      from: finite(not_before),
      seen: seen ?? [first],
      surely: isOver ? [first, Number.POSITIVE_INFINITY] : seen,
      until: finite(next === undefined ? open?.vanished_at : endOf(transitions, place)?.not_after),
    };
  });

/** Postgres has infinite moments, and moments that JavaScript does not have. */
function finite(text: string | null | undefined): number | null {
  const ms = momentMs(text);
  return Number.isNaN(ms) ? null : ms;
}
