import { type Empty, renderNoRows } from "./block.ts";
import type { Draft } from "./document.ts";
import { foreign, html, type Markup } from "./html.ts";
import { buildHref, type Link, projectHref, renderLinks } from "./links.ts";

/**
 * A page whose choice leaves nothing: that says nothing about builds. `name` is that of the page, `evidence` what the sentence
 * does not say; `empty` says what was chosen, and where to go on.
 */
export const drawNoMatch = (
  tab: "/" | "/trends" | "/errors",
  name: string,
  sentence: string,
  evidence: string,
  empty?: Empty,
): Draft => ({
  verdict: { title: `${name}: nothing matches`, look: "idle", sentence, evidence },
  main: html`
${empty && renderNoRows(...empty)}`,
  tab,
});

export const noDayMatches = (href: string): Empty => [
  "no-match",
  "No day matches.",
  "The mirror knows no build of these days.",
  [{ href, words: "The last 14 days" }],
];

/** A page that says why the requested page is not shown, with links to go on by. */
export function notice(title: string, words: Markup | string, ways: readonly Link[] = []): Draft {
  const acts = renderLinks([...ways, { href: "/", words: "What is broken now" }]);
  return { verdict: { title, look: "idle", sentence: title, evidence: words, acts } };
}

/**
 * A page for a fault: the database is away, or an error of docmirror itself. It shows the id of the request, by which
 * its lines are found in the log.
 */
export function faultNotice(title: string, words: string, path: string, requestId?: string) {
  const id = requestId === undefined ? "" : html` Request <code>${requestId}</code>.`;
  const acts = renderLinks([{ href: path, words: "Try again" }]);
  return {
    verdict: { title, look: "warn", sentence: title, evidence: html`${words}${id}`, acts },
  } as const;
}

/** Links to projects that may be meant. */
export const nearestLinks = (slugs: readonly string[]): Link[] =>
  slugs.map((slug) => ({ href: projectHref(slug), words: foreign(slug) }));

/** The two meanings of a name that a project and a build have. */
export function eitherLinks(name: string): Link[] {
  return [
    { href: projectHref(name), words: html`the project ${foreign(name)}` },
    { href: buildHref(name), words: html`the build ${foreign(name)}` },
  ];
}
