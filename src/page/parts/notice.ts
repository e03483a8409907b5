import type { DocumentFacts } from "./document.ts";
import { type Link, renderLinks } from "./empty.ts";
import { html } from "./html.ts";
import { buildHref, projectHref } from "./links.ts";
import { renderVerdict } from "./verdict-bar.ts";
import { foreign, type Markup } from "./words.ts";

/** A page that says why the requested page is not shown, with links to go on by. */
export function notice(title: string, words: Markup | string, ways: readonly Link[] = []): DocumentFacts {
  const acts = renderLinks([...ways, { href: "/", words: "What is broken now" }]);
  return { title, main: renderVerdict({ look: "idle", sentence: title, evidence: words, acts }) };
}

/**
 * A page for a fault: the database is away, or an error of docmirror itself. It shows the id of the request, by which
 * its lines are found in the log.
 */
export function faultNotice(title: string, words: string, path: string, requestId?: string): DocumentFacts {
  const id = requestId === undefined ? "" : html` Request <code>${requestId}</code>.`;
  const acts = renderLinks([{ href: path, words: "Try again" }]);
  return {
    title,
    tone: "warn",
    main: renderVerdict({ look: "warn", sentence: title, evidence: html`${words}${id}`, acts }),
  };
}

/** Links to projects that may be meant. */
export function nearestLinks(slugs: readonly string[]): Link[] {
  return slugs.map((slug) => ({ href: projectHref(slug), words: foreign(slug) }));
}

/** The two meanings of a name that a project and a build have. */
export function eitherLinks(name: string): Link[] {
  return [
    { href: projectHref(name), words: html`the project ${foreign(name)}` },
    { href: buildHref(name), words: html`the build ${foreign(name)}` },
  ];
}
