import { html } from "hono/html";
import type { DocumentFacts } from "./document.ts";
import { buildHref, projectHref } from "./links.ts";
import { foreign, type Markup } from "./words.ts";

/** A page that says why the requested page is not shown. */
export function notice(title: string, words: Markup | string, searched?: string): DocumentFacts {
  const main = html`<div class="notice">${typeof words === "string" ? html`<p>${words}</p>` : words}
<p><a href="/">All projects</a></p></div>`;
  return { title, main, ...(searched !== undefined && { searched }) };
}

/** Says what does not exist, with links to projects that may be meant. */
export function renderNearest(words: string, slugs: readonly string[]): Markup {
  const links = slugs.map(
    (slug) => html`<li><a href="${projectHref(slug)}">${foreign(slug)}</a></li>
`,
  );
  return html`<p>${words}${slugs.length === 0 ? "" : " Similar names:"}</p>
${
  slugs.length === 0
    ? ""
    : html`<ul>
${links}</ul>`
}`;
}

/** The two meanings of a name that a project and a build have. */
export function renderEither(name: string): Markup {
  return html`<p>A project and a build have that name:</p>
<ul><li><a href="${projectHref(name)}">the project ${foreign(name)}</a></li>
<li><a href="${buildHref(name)}">the build ${foreign(name)}</a></li></ul>`;
}
