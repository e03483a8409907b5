import { html } from "./html.ts";
import { buildHref, projectHref } from "./links.ts";
import type { Row } from "./row.ts";
import { foreign, type Markup, slugWords, targetWords } from "./words.ts";

/** A project by its slug. */
export function projectLink(slug: unknown): Markup {
  return html`<a href="${projectHref(String(slug))}">${slugWords(slug)}</a>`;
}

/** A build by its id. */
export function buildLink(id: unknown): Markup {
  return html`<a href="${buildHref(String(id))}">${foreign(String(id), 24)}</a>`;
}

/** What was built, beside the name of its project. */
export function targetTag({ version_slug, type }: Row): Markup {
  return html`<span class="target">${targetWords(version_slug, type)}</span>`;
}
