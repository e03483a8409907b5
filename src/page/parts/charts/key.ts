import { html } from "../html.ts";
import type { Markup } from "../words.ts";
import { LOOKS, type Look } from "./plot.ts";

/** What the marks of a chart mean, in a line below it. */
export function renderKey(entries: readonly (Markup | string)[]): Markup {
  return html`<p class="key">${entries}</p>`;
}

/** An entry of a key: a drawing in a box of `size`, and its meaning. */
export function keyEntry(
  size: readonly [width: number, height: number],
  shape: Markup,
  words: Markup | string,
) {
  return html`<span><svg width="${size[0]}" height="${size[1]}" aria-hidden="true">${shape}</svg>${words}</span>`;
}

/** An entry for a bar, as a small square. */
export function swatch(look: Look, words: string): Markup {
  const hasEdge = look === "perhaps" || look === "unfinished";
  const box = hasEdge ? html`x="0.5" y="0.5" width="11" height="11"` : html`width="12" height="12"`;
  return keyEntry([12, 12], html`<rect ${LOOKS[look]} ${box}/>`, words);
}
