import { html } from "hono/html";
import type { DocumentFacts } from "./document.ts";
import { buildHref, projectHref } from "./links.ts";
import { foreign, type Markup } from "./words.ts";

/** A page that says why there is no other. */
export function notice(title: string, words: Markup | string, sought?: string): DocumentFacts {
  const main = html`<div class="notice">${typeof words === "string" ? html`<p>${words}</p>` : words}
<p><a href="/">All projects</a></p></div>`;
  return { title, main, ...(sought !== undefined && { sought }) };
}

/** Says what is not there, with links to projects that may have been meant. */
export function renderNearest(words: string, slugs: readonly string[]): Markup {
  const links = slugs.map(
    (slug) => html`<li><a href="${projectHref(slug)}">${foreign(slug)}</a></li>
`,
  );
  return html`<p>${words}${slugs.length === 0 ? "" : " These come near it:"}</p>
${
  slugs.length === 0
    ? ""
    : html`<ul>
${links}</ul>`
}`;
}

/** What a name may mean when a project and a build have it. */
export function renderEither(name: string): Markup {
  return html`<p>A project and a build have that name:</p>
<ul><li><a href="${projectHref(name)}">the project ${foreign(name)}</a></li>
<li><a href="${buildHref(name)}">the build ${foreign(name)}</a></li></ul>`;
}
