import { grouped } from "../../base/counted.ts";
import { renderBlock } from "../parts/block.ts";
import { countChange, renderCountChange, renderCountStep } from "../parts/charts/count-change.ts";
import { renderPoints } from "../parts/charts/delta.ts";
import { type Count, differenceOf } from "../parts/charts/difference.ts";
import type { Outcomes } from "../parts/charts/trends-facts.ts";
import { html } from "../parts/html.ts";
import type { Offer } from "../parts/offers.ts";
import { daysName, type Period } from "../parts/period.ts";
import { type Markup, percent } from "../parts/words.ts";

/** A figure of the period, and of the one before it where that is known. */
interface Measure {
  readonly name: Markup | string;
  readonly now: string;
  readonly before: string;
  readonly change: Markup | string;
}

/** What happened to versions and formats in one of the two periods. */
export interface TurnCounts {
  readonly broke: number;
  readonly fixed: number;
  /** Of those that broke a day or more before the period ended: fixed within a day of breaking. */
  readonly quick: Count;
}

/** What breaks; of one format it is not known which had worked before. */
export const BROKE_WORDS = {
  all: "Versions and formats that broke",
  ofType: "Versions that broke, or failed at first",
} as const;

export interface CompareFacts {
  readonly period: Period;
  readonly whole: Outcomes;
  readonly before: Outcomes | null;
  /** What may break, such as `BROKE_WORDS.all`. */
  readonly broken: string;
  /** The builds that are no fault of the platform; null where that is not known. */
  readonly plain: { readonly now: Count; readonly before: Count } | null;
  readonly turns: { readonly now: TurnCounts; readonly before: TurnCounts };
  readonly tools: Offer;
  readonly now: Date;
}

/** The figures of the period beside those of the period before. */
export function renderCompare(facts: CompareFacts): Markup {
  const { period, before, tools, now } = facts;
  const isKnown = period.before !== null && before !== null;
  const measures = measuresOf(facts);
  const beforeHeads = html`
    <th role="columnheader" scope="col" class="num">${period.before && daysName(period.before, now)}</th>
    <th role="columnheader" scope="col">Change</th>`;
  const beforeCells = ({ before, change }: (typeof measures)[number]) => html`
    <td role="cell" class="num" data-l="before">${before}</td><td role="cell" class="right">${change}</td>`;
  return renderBlock({
    id: "compare",
    title: isKnown ? "This period and the one before" : "This period",
    ...(!isKnown && {
      note: "The mirror does not know builds of all of the days before, so there is nothing to compare it with.",
    }),
    tools,
    body: html`<table role="table" class="stack cmp">
      <caption class="unseen">This period and the one before</caption>
      <thead role="rowgroup"><tr role="row">
      <th role="columnheader" scope="col"><span class="unseen">Measure</span></th>
      <th role="columnheader" scope="col" class="num">${daysName(period, now)}</th>
      ${isKnown ? beforeHeads : ""}</tr></thead>
      <tbody role="rowgroup">
${measures.map(
  (measure) =>
    html`<tr role="row"><th role="rowheader" scope="row">${measure.name}</th>
      <td role="cell" class="num"><b>${measure.now}</b></td>
      ${isKnown ? beforeCells(measure) : ""}</tr>
`,
)}</tbody></table>`,
  });
}

/**
 * A version and format breaks where it is known to have worked. A mirror that is new does not know that of most, so
 * for so many days it counts too few.
 */
const NEW_DAYS = 28;

function measuresOf({ period, whole, before, plain, broken, turns }: CompareFacts): Measure[] {
  const rate = (name: string, now: Count, old: Count | null): Measure => ({
    name,
    now: share(now),
    before: old === null ? "–" : share(old),
    change: old === null ? "" : rateChange(now, old),
  });
  const isNew = period.start - period.known < NEW_DAYS;
  return [
    rate("Builds that succeeded", whole, before),
    ...(plain === null ? [] : [rate("… without faults of the platform", plain.now, plain.before)]),
    {
      name: "Builds triggered",
      now: grouped(whole.builds),
      before: grouped(before?.builds ?? 0),
      change: renderCountStep(whole.builds, before?.builds ?? 0),
    },
    {
      name: broken,
      now: grouped(turns.now.broke),
      before: grouped(turns.before.broke),
      change: isNew
        ? html`${renderCountStep(turns.now.broke, turns.before.broke)} <small class="quiet">the mirror was new before</small>`
        : renderCountChange(countChange(turns.now.broke, turns.before.broke)),
    },
    {
      name: "Versions and formats that were fixed",
      now: grouped(turns.now.fixed),
      before: grouped(turns.before.fixed),
      change: renderCountStep(turns.now.fixed, turns.before.fixed),
    },
    rate("Fixed within a day of breaking", turns.now.quick, turns.before.quick),
    {
      name: "Stuck to this day",
      now: grouped(whole.stuck),
      before: grouped(before?.stuck ?? 0),
      change: renderCountStep(whole.stuck, before?.stuck ?? 0),
    },
  ];
}

const share = ({ succeeded, finished }: Count): string =>
  finished === 0 ? "–" : percent(succeeded / finished);

/** The difference of two rates in points, with its interval where there is room. */
export function rateChange(now: Count, before: Count, hasRoom = true): Markup {
  const difference = differenceOf(now, before);
  if (difference === null) return html`<small class="quiet">nothing to compare it with</small>`;
  const { low, high, isChance } = difference;
  return html`${renderPoints(difference)} <small class="quiet">
    ${isChance ? "within chance" : "more than chance"}
    ${hasRoom ? html`<span class="gone">: ${points(low)} to ${points(high)}</span>` : ""}</small>`;
}

/** A difference in points with its sign: `+1.1`, `−0.5`. */
export function points(difference: number): string {
  const rounded = (Math.abs(difference) * 100).toFixed(1);
  return rounded === "0.0" ? rounded : `${difference < 0 ? "−" : "+"}${rounded}`;
}
