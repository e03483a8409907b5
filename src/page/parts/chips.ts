import { html } from "./html.ts";
import { type Query, withQuery } from "./links.ts";
import { grouped, type Markup } from "./words.ts";

export interface Chip {
  readonly label: string;
  /** The value that it gives to the parameter; undefined for no filter. */
  readonly value: string | undefined;
  readonly count?: number;
}

export interface ChipsFacts {
  /** What is chosen from, for a screen reader. */
  readonly label: string;
  readonly path: string;
  /** The parameter of the query. */
  readonly name: string;
  readonly chosen: string | undefined;
  /** The other filters, which are kept. */
  readonly kept: Query;
  readonly chips: readonly Chip[];
}

/** One filter as a row of links. The others are kept; the page of the list begins anew. */
export function renderChips({ label, path, name, chosen, kept, chips }: ChipsFacts): Markup {
  return html`<nav class="chips" aria-label="${label}">${chips.map(
    (chip) =>
      html`<a href="${withQuery(path, { ...kept, [name]: chip.value })}"${chip.value === chosen ? html` aria-current="true"` : ""}>${chip.label}${chip.count === undefined ? "" : html` <span>${grouped(chip.count)}</span>`}</a>`,
  )}</nav>`;
}
