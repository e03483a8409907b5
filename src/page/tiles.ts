import { html } from "hono/html";
import { wilsonInterval } from "../report/wilson-interval.ts";
import type { Row } from "./cells.ts";
import { grouped, type Markup, percent, percentRange } from "./words.ts";

/** The total numbers of rows of lists that the page cuts. */
interface Counts {
  readonly failing: number;
  readonly open: number;
  readonly stuck: number;
}

/** The most important figures. `days` holds rows of a daily success rate. */
export function renderTiles(days: readonly Row[], counts: Counts): Markup {
  const sum = (name: string) => days.reduce((total, day) => total + Number(day[name] ?? 0), 0);
  const [builds, finished, succeeded] = [sum("builds"), sum("finished"), sum("succeeded")];
  const interval = wilsonInterval(succeeded, finished);
  return html`<dl class="tiles">
<div><dt>Success rate</dt><dd>${
    interval
      ? html`<strong>${percent(succeeded / finished)}</strong> <small>${percentRange(interval.low, interval.high)} of ${grouped(finished)} finished</small>`
      : html`<strong>–</strong> <small>nothing finished in this time</small>`
  }</dd></div>
<div><dt>Builds</dt><dd><strong>${grouped(builds)}</strong> <small>${grouped(builds - finished)} unfinished</small></dd></div>
<div><dt>Failing now</dt><dd><strong>${grouped(counts.failing)}</strong> <small><a href="#failing-now">series</a></small></dd></div>
<div><dt>Open builds</dt><dd><strong>${grouped(counts.open)}</strong> <small><a href="#stuck-builds">${grouped(counts.stuck)} stuck</a></small></dd></div>
</dl>`;
}
