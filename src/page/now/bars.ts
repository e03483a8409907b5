import { grouped } from "../../base/text.ts";
import { keyEntry, renderKey } from "../parts/charts/key.ts";
import { html } from "../parts/html.ts";
import type { Markup } from "../parts/words.ts";

export interface Bar {
  readonly label: Markup | string;
  readonly href: string;
  readonly count: number;
  /** What would be usual; null where that is not known. */
  readonly usual: number | null;
}

/** Counts as bars, each with a line where it usually ends. `usualWords` names that line, such as "a usual day". */
export function renderBars(bars: readonly Bar[], usualWords: string): Markup {
  const most = Math.max(1, ...bars.flatMap(({ count, usual }) => [count, usual ?? 0]));
  const at = (value: number) => `${((100 * value) / most).toFixed(1)}%`;
  return html`<ul class="bars">${bars.map(({ label, href, count, usual }) => {
    const told = `${grouped(count)} now${usual === null ? "" : `, ${grouped(Math.round(usual))} on ${usualWords}`}`;
    const line =
      usual === null
        ? ""
        : html`<line class="base" x1="${at(usual)}" x2="${at(usual)}" y1="-1" y2="11" stroke-width="2"/>`;
    return html`<li><a href="${href}">${label}</a><span class="n">${grouped(count)}</span>
      <svg role="img" width="100%" height="10" aria-label="${told}">
        <rect class="m-track" width="100%" height="6" y="2" rx="3"/>
        <rect class="m-bad" width="${at(count)}" height="6" y="2" rx="3"/>${line}</svg></li>`;
  })}</ul>
${bars.every(({ usual }) => usual === null) ? "" : renderKey([keyEntry([2, 12], html`<line class="base" x1="1" x2="1" y1="0" y2="12"/>`, usualWords)])}`;
}
