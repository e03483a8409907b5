import { grouped } from "../../base/text.ts";
import { wilsonInterval } from "../../report/wilson-interval.ts";
import { html, type Markup, wholePercent } from "./html.ts";
import { icon } from "./marks.ts";

export interface Count {
  readonly succeeded: number;
  readonly finished: number;
}

interface Difference {
  /** Share after minus share before, -1 to 1. */
  readonly by: number;
  readonly low: number;
  readonly high: number;
  /** Whether the interval has 0 in it: then chance alone may have made the difference. */
  readonly isChance: boolean;
}

/**
 * The difference between two success rates, by Newcombe's interval from the two Wilson intervals. Null where
 * nothing finished before or after.
 */
export function differenceOf(after: Count, before: Count): Difference | null {
  const [new_, old] = [after, before].map((count) => wilsonInterval(count.succeeded, count.finished));
  if (!new_ || !old) return null;
  const [p, q] = [after.succeeded / after.finished, before.succeeded / before.finished];
  const by = p - q;
  const low = Math.max(-1, by - Math.hypot(p - new_.low, old.high - q));
  const high = Math.min(1, by + Math.hypot(new_.high - p, q - old.low));
  return { by, low, high, isChance: low <= 0 && high >= 0 };
}

const directionOf = (step: number) => (step === 0 ? "same" : step > 0 ? "up" : "down");

/** A change of a rate in points. Only what is more than chance is coloured. */
export function renderPoints({ by, isChance }: Difference): Markup {
  const points = (Math.abs(by) * 100).toFixed(1);
  const sign = directionOf(points === "0.0" ? 0 : by);
  const kind = { same: "same", up: "good", down: "bad" }[sign];
  const direction = sign === "same" ? "" : `${sign} `;
  return html`<span class="delta ${isChance ? "chance" : kind}">${icon(sign)}<span class="unseen">${direction}</span>${points}\u00a0points</span>`;
}

const [LEFT, WIDTH] = [4, 64];

/** A rate as a dot on its 95 % interval, with "6 of 10". A dash where nothing finished. */
export function rateDot(succeeded: number, finished: number): Markup {
  const interval = wilsonInterval(succeeded, finished);
  if (interval === null) return html`<span class="rate"><b>–</b><small>none finished</small></span>`;
  const share = succeeded / finished;
  const x = (value: number) => (LEFT + WIDTH * value).toFixed(1);
  const label = `95 % interval ${wholePercent(interval.low)} to ${wholePercent(interval.high)}`;
  return html`<span class="rate"><b>${wholePercent(share)}</b>
    <svg class="wh" role="img" width="72" height="12" viewBox="0 0 72 12" aria-label="${label}">
    <path class="wh-axis" d="M4 6H68"/><path class="wh-range" d="M${x(interval.low)} 6H${x(interval.high)}"/>
    <circle class="wh-dot" cx="${x(share)}" cy="6" r="3.4"/></svg>
    <small>${grouped(succeeded)} of ${grouped(finished)}</small></span>`;
}

/** Of hundreds of lines some rise by chance beyond an interval of 95 %, so a count has to leave one of 99 %. */
const DEVIATIONS = 2.6;

/** Whether chance alone may have made the difference of two counts. Every page asks it by this one test, of kinds and of lines. */
export const isCountChance = (now: number, before: number): boolean =>
  Math.abs(now - before) <= DEVIATIONS * Math.sqrt(now + before);

/** Whether a count rose by more than chance: only that is red. */
export const isMore = (now: number, before: number): boolean => now > before && !isCountChance(now, before);

/** A change in percent, such as `+79 %`, `new` and `gone`; coloured only where it is more than chance, and more is worse. */
export function renderCountChange(now: number, before: number): Markup {
  const isChance = isCountChance(now, before);
  const percent = grouped(Math.max(1, Math.round((100 * Math.abs(now - before)) / before)));
  const words =
    now === before
      ? "no change"
      : before === 0
        ? "new"
        : now === 0
          ? "gone"
          : `${now > before ? "+" : "−"}${percent}\u00a0%`;
  const kind = isChance || now === before ? "chance" : now > before ? "bad" : "good";
  return html`<span class="delta ${kind}">${icon(directionOf(now - before))}${words}</span> <small>${isChance ? "within chance" : "more than chance"}</small>`;
}

/** A change as a plain number, which judges nothing: `+35`. */
export function renderCountStep(now: number, before: number): Markup {
  const step = now - before;
  const words = step === 0 ? "no change" : `${step > 0 ? "+" : "−"}${grouped(Math.abs(step))}`;
  return html`<span class="delta same">${icon(directionOf(step))}${words}</span>`;
}
