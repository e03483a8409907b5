import { grouped } from "../../../base/text.ts";
import { wilsonInterval } from "../../../report/wilson-interval.ts";
import { html } from "../html.ts";
import { type Markup, wholePercent } from "../words.ts";

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
