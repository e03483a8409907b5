import { grouped } from "../../base/text.ts";
import { html } from "./html.ts";
import { type Query, withQuery } from "./links.ts";
import type { Markup } from "./words.ts";

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
  const current = html` aria-current="true"`;
  return html`<nav class="chips" aria-label="${label}">${chips.map(({ label, value, count }) => {
    const href = withQuery(path, { ...kept, [name]: value });
    const number = count === undefined ? "" : html` <span>${grouped(count)}</span>`;
    return html`<a href="${href}"${value === chosen ? current : ""}>${label}${number}</a>`;
  })}</nav>`;
}
