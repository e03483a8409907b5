import { html } from "../parts/html.ts";
import type { Markup } from "../parts/words.ts";

/** What the strips and the rates of a list mean. */
export function renderListKey(): Markup {
  return html`<p class="key"><span>
    <svg class="wl" width="24" height="22" viewBox="0 0 24 22" aria-hidden="true">
    <path class="axis" d="M0 11H24"/><path class="up" d="M2 10V4M7 10V4M17 10V4"/>
    <path class="down" d="M12 12v8"/><path class="mid" d="M22 9.5v3"/></svg>up: succeeded, down: failed, on
    the line: not finished; the newest at the right</span>
    <span><svg width="44" height="12" aria-hidden="true"><path class="wh-axis" d="M0 6H44"/>
    <path class="wh-range" d="M12 6H34"/><circle class="wh-dot" cx="26" cy="6" r="3.4"/></svg>share that
    succeeded, of all time, and how sure it is: few builds, long bar</span></p>`;
}
