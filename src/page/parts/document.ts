import type { Resource } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Empty, type PageFiles, renderNoRows } from "./block.ts";
import type { PageMoment } from "./freshness.ts";
import { html, type Markup, shorten, wordsOf } from "./html.ts";
import { type Link, renderLinks } from "./links.ts";
import { favicon, icon, type Mark, mark, SPRITE, type Tone, withoutAges } from "./marks.ts";

/** The request of a reader. */
export interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The project's slug or the build's id; empty on the pages of all projects. */
  readonly name: string;
  /** The minute of the request. */
  readonly now: Date;
  /** It may renew itself: the reader has not stopped that. */
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
  /** The age of the data. @default not said */
  readonly age?: Markup;
}

/**
 * A page of figures that is not yet read or drawn. Every page is a function from an address to this: it parses
 * the query; `draw` then reads the figures and draws them.
 */
export interface Drawing {
  /** All that the page depends on, apart from the figures: parsed, so that it has few values. */
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
  /** The limits of its figures, above its content. @default nothing */
  readonly limits?: Markup;
  /** Of a file: the moment that it is about, for the title of the window, and that it stays as it is. @default it is no file */
  readonly file?: { readonly of: string; readonly says: string } | false | undefined;
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
    file,
  } = facts;
  const host = service == null ? "" : shorten(service, 60);
  const of = host && ` · ${host}`;
  const at = file ? ` · ${file.of} UTC` : "";
  // A chat shows it beside a link, for days: moments stand in place of ages.
  const said = wordsOf(withoutAges((await html`${verdict?.sentence ?? title}`).toString()));
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${shorten(title, 120)}${at}${of} · docmirror</title>
<meta name="description" content="${said}">
<link rel="icon" href="${favicon(verdict === undefined ? "idle" : toneOf(verdict))}">
<link rel="stylesheet" href="${styleHref}">
${feed && html`<link rel="alternate" type="application/atom+xml" title="${shorten(`${feed.title}${of}`, 120)}" href="${feed.href}">`}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${SPRITE}
<header class="top"><div class="wrap">
<a class="brand" href="/">docmirror${host && html` <small>${host}</small>`}</a>
<nav aria-label="Pages">${Object.entries(TABS).map(
    ([path, name]) => html`<a href="${path}"${path === tab && html` aria-current="page"`}>${name}</a>`,
  )}</nav>
<form class="find" role="search" action="/projects" aria-label="All pages">
  <label class="unseen" for="q">Project, maintainer or build: a part of a name, a username, or a number</label>${icon("find")}
  <input id="q" name="q" type="search" required autocomplete="off" spellcheck="false"
  placeholder="Project, name or build" value="${shorten(searched ?? "", 200)}"><button>Find</button></form>
<a class="find-link" href="/projects#find">${icon("find")}<span class="unseen">Find a project, a maintainer or a build</span></a>
${age}
</div></header>
<main id="main" class="wrap" tabindex="-1">
${limits}
${above}${verdict && renderVerdict(verdict)}${main}
</main>
<footer class="foot wrap"><p>Builds of documentation${host && ` at ${host}`}, from a copy that docmirror keeps. Times are in UTC. A build counts on
  the day it was triggered. Rates are shares of finished builds; ranges are 95&nbsp;% intervals.</p>
  <p>${file && `This page was ${file.says}. `}<a href="/dictionary#words">What the words mean: project, main docs, stuck, usual</a> ·
  <a href="/dictionary">What each column means</a> · <a href="/api/v1/">The API</a></p>
  </footer>
</body>
</html>
`;
  return page.toString();
}

/** The mark and the tone of each look: `bad` is tinted, `some` is not; the same for `warn` and `known`. `flat` is plain. */
const LOOKS = {
  bad: [["bad", "Something is broken"], "bad"],
  some: [["bad", "Something is broken"], "bad"],
  good: [["good", "Good"], "good"],
  warn: [["warn", "Look here"], "warn"],
  known: [["warn", "Something broke"], "warn"],
  flat: [["flat", "Nothing new"], "warn"],
  idle: [["idle", "Not known"], "idle"],
} as const satisfies Record<string, readonly [Mark, Tone]>;

export type VerdictLook = keyof typeof LOOKS;

/** The answer of a page in one sentence, and what speaks for it. */
export interface Verdict {
  /** The title of the window. */
  readonly title: string;
  readonly look: VerdictLook;
  /** The state that the icon of the window shows. @default that of the look */
  readonly tone?: Tone;
  /** @default that of the look */
  readonly mark?: Mark;
  /** The way to this page: links above the sentence. @default nothing */
  readonly crumbs?: Markup;
  /** The heading of the page. */
  readonly sentence: Markup | string;
  /** @default nothing */
  readonly evidence?: Markup | string;
  /** Links. @default none */
  readonly acts?: Markup;
  /** Up to four. @default none */
  readonly figures?: readonly Figure[];
}

export interface Figure {
  readonly label: string;
  /** The rest of the label, which a phone has no room for, such as ", last 24 hours". */
  readonly labelRest?: Markup | string;
  readonly value: Markup | string;
  /** Its unit, such as "of 700 projects". */
  readonly unit?: string;
  /** The comparison, or a link to the block that has more. */
  readonly note: Markup | string;
  /** A small chart beside the first one; null where there are too few days for it. @default no place for one */
  readonly spark?: Markup | null;
}

/** The icon of the window, which says the verdict too. */
export const toneOf = ({ look, tone = LOOKS[look][1] }: Pick<Verdict, "look" | "tone">): Tone => tone;

/** The first thing on a page. */
function renderVerdict(verdict: Verdict): Markup {
  const { look, crumbs, sentence, evidence, acts, figures } = verdict;
  const heading = html`<h1 id="v">${sentence}</h1>`;
  return html`<section class="verdict ${look}" aria-labelledby="v">
${mark(...(verdict.mark ?? LOOKS[look][0]), "big")}
${crumbs === undefined ? heading : html`<div><p class="crumbs">${crumbs}</p>${heading}</div>`}
${evidence && html`<p class="say">${evidence}</p>`}
${acts && html`<p class="acts">${acts}</p>`}
${figures && renderFigures(figures)}
</section>`;
}

function renderFigures(figures: readonly Figure[]): Markup {
  return html`<dl class="figures${figures[0]?.spark === undefined && " even"}">
${figures.map(
  ({ label, labelRest, value, unit, note, spark }) =>
    html`<div${spark && html` class="with-spark"`}>
      <dt>${label}${labelRest !== undefined && html`<span class="rest">${labelRest}</span>`}</dt>
      <dd class="v">${value}${unit !== undefined && html` <small>${unit}</small>`}</dd><dd>${note}</dd>
      ${spark && html`<dd class="spark">${spark}</dd>`}</div>
`,
)}</dl>`;
}

interface NoMatch {
  readonly tab: Tab;
  /** The name of the page. */
  readonly name: string;
  readonly sentence: string;
  /** Keeps the sentence from being read as one about builds. */
  readonly evidence: string;
  /** The choice, and where to go on. */
  readonly empty?: Empty;
}

/** A page whose choice leaves nothing: that says nothing about builds. */
export const drawNoMatch = ({ tab, name, sentence, evidence, empty }: NoMatch): Draft => ({
  verdict: { title: `${name}: nothing matches`, look: "idle", sentence, evidence },
  main: html`
${empty && renderNoRows(...empty)}`,
  tab,
});

/** Where no build of the chosen days is known; `href` is the page with the usual days. */
export const noDays = (href: string) => ({
  sentence: "No build of these days is known.",
  empty: [
    "no-match",
    "No day matches.",
    "The mirror knows no build of these days.",
    [{ href, words: "The last 14 days" }],
  ] as const,
});

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
  const id = requestId !== undefined && html` Request <code>${requestId}</code>.`;
  const acts = renderLinks([{ href: path, words: "Try again" }]);
  return {
    verdict: { title, look: "warn", sentence: title, evidence: html`${words}${id}`, acts },
  } as const;
}
