import { html } from "hono/html";
import { type Markup, shorten } from "./words.ts";

export interface DocumentFacts {
  /** The only heading of the first level, and the title of the page. */
  readonly title: string;
  /** The content of the heading, if it is more than the title. @default title */
  readonly heading?: Markup;
  readonly main: Markup;
  /** The search text, shown again in the search form. */
  readonly searched?: string;
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M1 12l4-5 3 3 6-8' fill='none' stroke='%231f6f5c' stroke-width='2.4'/%3E%3C/svg%3E";

/**
 * A whole page around its main part. Head, search and foot are the same everywhere. There is no script, and
 * no address but our own.
 */
export async function renderDocument(facts: DocumentFacts, styleHref: string): Promise<string> {
  const title = shorten(facts.title, 120);
  const page = await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · docmirror</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${styleHref}">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="/">docmirror</a>
<form class="search" action="/find" method="get" role="search">
<label for="q">Project or build</label>
<input id="q" name="q" type="search" required autocomplete="off" spellcheck="false" placeholder="slug or build id" value="${shorten(facts.searched ?? "", 200)}">
<button>Find</button>
</form>
</header>
<main id="main" tabindex="-1">
<h1>${facts.heading ?? title}</h1>
${facts.main}
</main>
<footer>
<p>All times are in UTC. A build counts on the UTC day on which it was triggered. Rates are shares of finished builds, with their 95&nbsp;% Wilson interval.</p>
<p><a href="/report/data_dictionary.csv">What each column means (CSV)</a></p>
</footer>
</body>
</html>
`;
  return page.toString();
}
