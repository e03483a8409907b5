import { html } from "./html.ts";
import { favicon, icon, SPRITE, type Tone } from "./icon.ts";
import { type Markup, shorten } from "./words.ts";

/** The pages of the navigation, by their paths. */
const TABS = {
  "/": "Now",
  "/trends": "Trends",
  "/projects": "Projects",
  "/errors": "Errors",
  "/mirror": "Mirror",
};

export type Tab = keyof typeof TABS;

/** The page of the navigation at a path, or the one that has the pages of projects and builds. */
export const tabAt = (path: string): Tab => (Object.hasOwn(TABS, path) ? (path as Tab) : "/projects");

export interface DocumentFacts {
  /** The title of the window; it says the verdict where the page has one. */
  readonly title: string;
  /** What the icon of the window says. @default idle */
  readonly tone?: Tone;
  /** The page of the navigation that it belongs to. @default none */
  readonly tab?: Tab;
  /** Its content, with the only heading of the first level. */
  readonly main: Markup;
  /** The search text, shown again in the search form. */
  readonly searched?: string;
  /** The Atom feed of what the page is about. */
  readonly feed?: { readonly href: string; readonly title: string };
  /** How old the data is. @default not said */
  readonly age?: Markup;
  /** What limits its figures, above its content. @default nothing */
  readonly limits?: Markup;
}

/**
 * A whole page around its main part. Head, search and foot are the same everywhere. There is no script, and
 * no address but our own.
 */
export async function renderDocument(facts: DocumentFacts, styleHref: string): Promise<string> {
  const { tone = "idle", tab, main, searched, feed, age, limits } = facts;
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${shorten(facts.title, 120)} · docmirror</title>
<link rel="icon" href="${favicon(tone)}">
<link rel="stylesheet" href="${styleHref}">
${feed === undefined ? "" : html`<link rel="alternate" type="application/atom+xml" title="${shorten(feed.title, 120)}" href="${feed.href}">`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${SPRITE}
<header class="top"><div class="wrap">
<a class="brand" href="/">docmirror</a>
<nav aria-label="Pages">${Object.entries(TABS).map(
    ([path, name]) => html`<a href="${path}"${path === tab ? html` aria-current="page"` : ""}>${name}</a>`,
  )}</nav>
<form class="find" role="search" action="/projects" aria-label="All pages">
  <label class="unseen" for="q">Project or build: a part of a name, or a number</label>${icon("find")}
  <input id="q" name="q" type="search" required autocomplete="off" spellcheck="false"
  placeholder="Project or build number" value="${shorten(searched ?? "", 200)}"><button>Find</button></form>
<a class="find-link" href="/projects#find">${icon("find")}<span class="unseen">Find a project or build</span></a>
${age ?? ""}
</div></header>
<main id="main" class="wrap" tabindex="-1">
${limits ?? ""}
${main}
</main>
<footer class="foot wrap"><p>Times are in UTC. A build counts on the day it was triggered. Rates are shares of
  finished builds; ranges are 95&nbsp;% intervals.</p>
  <p><a href="/dictionary">What each column means</a> · <a href="/api/v1/">The API</a></p>
  </footer>
</body>
</html>
`;
  return page.toString();
}
