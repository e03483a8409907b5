import { momentMs, momentTag, span, when } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { linkStrip } from "../parts/charts/build-strip.ts";
import { html } from "../parts/html.ts";
import { icon } from "../parts/icon.ts";
import { buildHref } from "../parts/links.ts";
import { mark, outcomeMark } from "../parts/mark.ts";
import type { Offer } from "../parts/offers.ts";
import type { Row } from "../parts/row.ts";
import { foreign, kindLabel, type Markup, targetWords } from "../parts/words.ts";
import { BEFORE } from "./build-questions.ts";

export interface AroundFacts {
  readonly fact: Row;
  /** The builds of its version and format around it, the oldest first, itself among them. */
  readonly around: readonly Row[];
  /** The last one before it that succeeded. */
  readonly good: Row | undefined;
  readonly now: Date;
}

/** The builds of the same version and format before and after, and the last good one. */
export function renderNeighbours({ fact, around, good, now }: AroundFacts): Markup {
  const target = targetWords(fact.version_slug, fact.type);
  const place = around.findIndex(({ build_id }) => build_id === fact.build_id);
  const [before, after] = [around[place - 1], around[place + 1]];
  return html`<nav class="near" aria-label="Builds of ${target}">
${renderBefore(fact, before, target, now)}
${renderGood(good, target, good && goodWords(fact, around, good, now))}
${renderAfter(fact, after, target, now)}
</nav>`;
}

function renderBefore(fact: Row, before: Row | undefined, target: string, now: Date): Markup {
  if (before === undefined)
    return html`<span class="off">${icon("prev")}
      <span>Before: none<small>the first build of ${target} that is known</small></span></span>`;
  return html`<a href="${hrefOf(before)}" rel="prev">${icon("prev")}${markOf(before)}
    <span>Before: ${idOf(before)}<small>${whenOf(before, now)}${gap(before, fact, "earlier")}</small></span></a>`;
}

function renderGood(good: Row | undefined, target: string, words: Markup | string | undefined): Markup {
  if (good === undefined)
    return html`<span class="off">
      <span>Last good: none<small>no build of ${target} before it succeeded</small></span></span>`;
  return html`<a href="${hrefOf(good)}">${mark("good", "last good")}
    <span>Last good: ${idOf(good)}<small>${words}</small></span></a>`;
}

function renderAfter(fact: Row, after: Row | undefined, target: string, now: Date): Markup {
  if (after === undefined)
    return html`<span class="off right">
      <span>After: none yet<small>${lastWords(fact, target)}</small></span>${icon("next")}</span>`;
  return html`<a class="right" href="${hrefOf(after)}" rel="next">
    <span>After: ${idOf(after)}<small>${whenOf(after, now)}${gap(fact, after, "later")}</small></span>
    ${markOf(after)}${icon("next")}</a>`;
}

const whenOf = ({ outcome, triggered_at }: Row, now: Date): Markup =>
  html`${outcomeMark(outcome).word} ${momentTag(triggered_at, now)}`;

/** The builds around this one in a row, this one outlined. */
export function renderSeriesAround({ fact, around, now }: AroundFacts, tools: Offer): Markup {
  const target = targetWords(fact.version_slug, fact.type);
  const builds = around.map((row) => ({
    id: String(row.build_id),
    outcome: String(row.outcome),
    words: `${target}${triggeredWords(row, now)}${row.error_class === null ? "" : `: ${kindLabel(row.error_class)}`}`,
  }));
  return renderBlock({
    id: "series",
    title: `Builds of ${target}`,
    note: "The oldest first; this one is outlined.",
    tools,
    body: linkStrip(builds, String(fact.build_id)),
  });
}

function triggeredWords({ triggered_at }: Row, now: Date): string {
  const ms = momentMs(triggered_at);
  return Number.isNaN(ms) ? "" : `, ${when(ms, now)} UTC`;
}

function goodWords(fact: Row, around: readonly Row[], good: Row, now: Date): Markup | string {
  const earlier = around.slice(
    0,
    around.findIndex(({ build_id }) => build_id === fact.build_id),
  );
  if (fact.failed !== 1 || earlier.at(-1)?.build_id !== good.build_id)
    return html`${momentTag(good.triggered_at, now)}${gap(good, fact, "earlier")}`;
  const streak = earlier.length - 1 - earlier.findLastIndex(({ succeeded }) => succeeded !== 1);
  return `so this build broke it, after ${streak >= BEFORE ? "at least " : ""}${streak} good`;
}

function lastWords(fact: Row, target: string): string {
  if (fact.failed === 1) return `${target} still fails`;
  return fact.succeeded === 1 ? `${target} is good` : "this is the newest that is known";
}

function gap(from: Row, to: Row, way: string): string {
  const ms = momentMs(to.triggered_at) - momentMs(from.triggered_at);
  return Number.isNaN(ms) ? "" : `, ${span(Math.max(0, ms))} ${way}`;
}

const hrefOf = ({ build_id }: Row): string => buildHref(String(build_id));
const idOf = ({ build_id }: Row): Markup => foreign(String(build_id), 24);

function markOf({ outcome }: Row): Markup {
  const { kind, word } = outcomeMark(outcome);
  return mark(kind, word);
}
