import type { Question } from "../../report/question.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { html } from "./html.ts";
import { type Query, withQuery } from "./links.ts";
import type { PageMoment } from "./page-moment.ts";
import type { Markup } from "./words.ts";

/** What a block asks, and where its rows are as files. */
export interface Offer {
  readonly question: Question;
  /** The address of a file of its rows. */
  href(ending: "csv" | "json"): string;
}

/** The blocks of a page that have files, by their ids, and what each asks. */
export type BlockQuestions = Readonly<Record<string, Question>>;

/** What narrows the rows of a block: parameters of the query, each with its values where these are few. */
export type Parameters = Readonly<Record<string, readonly string[] | null>>;

/** How a page gives the rows of its blocks as files. */
export interface PageFiles {
  readonly parameters: Readonly<Record<string, Parameters>>;
  /** Throws ConfigError for a choice that names nothing. */
  ask(tx: TransactionSql, moment: PageMoment): Promise<BlockQuestions>;
}

/** The files of a page's blocks. Of `query`, the choice that its questions were asked for, each has what narrows it. */
export function offerFiles<Block extends string>(
  page: string,
  query: Query,
  questions: Readonly<Record<Block, Question>>,
  parameters: Readonly<Record<Block, Parameters>>,
): Readonly<Record<Block, Offer>> {
  const offers = Object.entries<Question>(questions).map(([block, question]): [string, Offer] => {
    const own = Object.keys(parameters[block as Block]).map((name) => [name, query[name]] as const);
    const href: Offer["href"] = (ending) =>
      withQuery(`/files/${page}/${block}.${ending}`, Object.fromEntries(own));
    return [block, { question, href }];
  });
  return Object.fromEntries(offers) as Record<Block, Offer>;
}

/**
 * The quiet tools of a block: its rows as CSV and JSON, and its SQL. The SQL opens in a popover; a browser
 * without popovers has it in the page.
 */
export function renderTools(id: string, title: string, { question, href }: Offer): Markup {
  return html`<div class="tools">
    <a href="${href("csv")}" download>CSV<span class="unseen"> of ${title}</span></a>
    <a href="${href("json")}">JSON<span class="unseen"> of ${title}</span></a>
    <button type="button" popovertarget="sql-${id}">SQL<span class="unseen"> of ${title}</span></button>
<div class="pop" popover id="sql-${id}">
  <div class="pop-head"><strong>${title}: the query</strong>
  <button type="button" popovertarget="sql-${id}" popovertargetaction="hide">Close</button></div>
  <pre tabindex="0" role="region" aria-label="SQL of ${title}">${question.readable}</pre>
  <p>At the command line <code>docmirror sql</code> runs it.</p></div></div>`;
}
