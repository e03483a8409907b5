import type { Resource } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { PageFiles } from "./block.ts";
import { html, type Markup, shorten } from "./html.ts";
import { favicon, icon, SPRITE } from "./marks.ts";
import type { PageMoment } from "./page-moment.ts";
import { renderVerdict, toneOf, type Verdict } from "./verdict.ts";

/** What a reader asked for. */
export interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The project's slug or the build's id; empty on the pages of all projects. */
  readonly name: string;
  /** The minute of the request. */
  readonly now: Date;
  /** Whether it may renew itself: the reader has not stopped that. */
  readonly renews: boolean;
}

/** A page without the parts that are the same on all pages. */
export interface Draft {
  /** @default 200 */
  readonly status?: 404;
  /** After how many seconds the browser asks again, by itself. @default never */
  readonly renewSeconds?: number | undefined;
  /** The first thing on it, with the title and the icon of the window. */
  readonly verdict?: Verdict;
  /** The title of the window of a page without a verdict. */
  readonly title?: string;
  /** Above the verdict. @default nothing */
  readonly above?: Markup | string;
  /** Below the verdict. @default nothing */
  readonly main?: Markup | string;
  /** The page of the navigation that it belongs to. @default none */
  readonly tab?: Tab;
  /** The search text, shown again in the search form. */
  readonly searched?: string | undefined;
  /** The Atom feed of what the page is about. */
  readonly feed?: { readonly href: string; readonly title: string };
  /** How old the data is. @default not said */
  readonly age?: Markup;
}

/**
 * A page of figures that is not yet read or drawn. Every page is a function from an address to this: it parses
 * the query; `draw` then reads the figures and draws them.
 */
export interface Drawing {
  /** What the page depends on, apart from the figures: parsed, so that it has few values. */
  readonly key: unknown;
  /** It has nothing to say until one of these lists was read; with none, it always has. @default builds */
  readonly needs?: readonly Resource[];
  /** Everything it asks is one snapshot. Throws ConfigError for an invalid filter. */
  draw(tx: TransactionSql, moment: PageMoment): Promise<Draft>;
  /** The rows of its blocks. */
  readonly files: PageFiles;
}

export type PageFunction = (address: Address) => Drawing;

/** The pages of the navigation, by their paths. */
const TABS = {
  "/": "Now",
  "/trends": "Trends",
  "/projects": "Projects",
  "/errors": "Errors",
  "/mirror": "Mirror",
};

type Tab = keyof typeof TABS;

/** The page of the navigation at a path, or the one that has the pages of projects and builds. */
export const tabAt = (path: string): Tab => (Object.hasOwn(TABS, path) ? (path as Tab) : "/projects");

export interface DocumentFacts extends Draft {
  /** The host of the service, or `demo`. @default not known */
  readonly service?: string | null;
  /** What limits its figures, above its content. @default nothing */
  readonly limits?: Markup;
}

/**
 * A whole page around its content, which has the only heading of the first level. Head, search and foot are the same everywhere. There is no script, and
 * no address but our own.
 */
export async function renderDocument(facts: DocumentFacts, styleHref: string): Promise<string> {
  const {
    verdict,
    title = verdict?.title ?? "",
    above,
    main,
    tab,
    searched,
    feed,
    age,
    limits,
    service,
  } = facts;
  const host = service == null ? "" : shorten(service, 60);
  const of = host && ` · ${host}`;
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${shorten(title, 120)}${of} · docmirror</title>
<link rel="icon" href="${favicon(verdict === undefined ? "idle" : toneOf(verdict))}">
<link rel="stylesheet" href="${styleHref}">
${feed === undefined ? "" : html`<link rel="alternate" type="application/atom+xml" title="${shorten(`${feed.title}${of}`, 120)}" href="${feed.href}">`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${SPRITE}
<header class="top"><div class="wrap">
<a class="brand" href="/">docmirror${host && html` <small>${host}</small>`}</a>
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
${above}${verdict && renderVerdict(verdict)}${main}
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
