/**
 * What the pages share: blocks with their tools, tables, charts, marks, words for figures and times, links, periods. A
 * page imports from here and from its own folder, never from another page. Charts and questions have folders of their
 * own.
 */
import { html } from "./html.ts";
import { type Offer, renderTools } from "./offers.ts";
import type { Markup } from "./words.ts";

export interface BlockFacts {
  /** Its anchor: letters and hyphens, once a page. */
  readonly id: string;
  readonly title: string;
  /** How many there are, or of which time: quiet, beside the title. */
  readonly count?: string;
  /** A sentence below the title. */
  readonly note?: Markup | string;
  /** CSV, JSON and SQL. @default none */
  readonly tools?: Offer;
  readonly body: Markup | readonly Markup[];
}

/** One answer of a page: a heading with its quiet tools, and the answer. */
export function renderBlock({ id, title, count, note, tools, body }: BlockFacts): Markup {
  return html`<section class="block" id="${id}" aria-labelledby="${id}-t">
<header class="bh"><h2 id="${id}-t">${title}
  ${count === undefined ? "" : html` <span class="count">${count}</span>`}</h2>
  ${tools === undefined ? "" : renderTools(id, title, tools)}
  ${note === undefined ? "" : html`<p class="note">${note}</p>`}</header>
${body}
</section>`;
}

/** The head of a page that has no verdict. */
export function renderHead(title: Markup | string, say?: Markup | string): Markup {
  return html`<div class="head"><div><h1>${title}</h1>${say === undefined ? "" : html`<p class="say">${say}</p>`}</div></div>`;
}
