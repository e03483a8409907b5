import type { Question } from "../../report/question.ts";
import { html } from "./html.ts";
import { type Query, withQuery } from "./links.ts";
import type { Markup } from "./words.ts";

export interface Tools {
  /** The question as its SQL shows it. Its relation is the one that the files have. */
  readonly question: Pick<Question, "relation" | "readable">;
  /** What narrows the rows of the files: `project`, `version`, `type`, `since`, `until`. @default nothing */
  readonly filters?: Query;
}

/**
 * The quiet tools of a block: its rows as CSV and JSON, and its SQL. The SQL opens in a popover; a browser
 * without popovers has it in the page.
 */
export function renderTools(id: string, title: string, { question, filters = {} }: Tools): Markup {
  const { relation, readable } = question;
  const file = (ending: string) => withQuery(`/report/${relation}.${ending}`, filters);
  return html`<div class="tools">
    <a href="${file("csv")}" download>CSV<span class="unseen"> of ${title}</span></a>
    <a href="${file("json")}">JSON<span class="unseen"> of ${title}</span></a>
    <button type="button" popovertarget="sql-${id}">SQL<span class="unseen"> of ${title}</span></button>
<div class="pop" popover id="sql-${id}">
  <div class="pop-head"><strong>${title}: the query</strong>
  <button type="button" popovertarget="sql-${id}" popovertargetaction="hide">Close</button></div>
  <pre tabindex="0" role="region" aria-label="SQL of ${title}">${readable}</pre>
  <p>At the command line: <code>docmirror report ${relation}</code></p></div></div>`;
}
