import { counted, grouped } from "../../base/text.ts";
import { renderBlock } from "../parts/block.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import type { Offer } from "../parts/offers.ts";
import { renderPager } from "../parts/pager.ts";
import { daysName, lengthWords, type Period } from "../parts/period.ts";
import { kindLabel, type Markup } from "../parts/words.ts";
import { ERRORS_PATH, type ErrorsHref, keptQuery } from "./errors-query.ts";
import { type ErrorsChoice, isAllTime, PRINT_SORTS, PRINTS_PER_PAGE } from "./errors-questions.ts";
import { groupByPrint, type KindFacts, renderKind } from "./kind-lines.ts";

export interface ErrorLinesFacts extends KindFacts {
  /** Failed builds of the period, of all classes. */
  readonly failed: number;
  readonly tools: Offer;
}

/** Kinds of error by what their lines share, and below each its lines with most builds. */
export function renderErrorLines(facts: ErrorLinesFacts): Markup {
  const { choice, period, lines, failed, tools } = facts;
  const total = Number(lines[0]?.kinds ?? 0);
  const isAll = isAllTime(period);
  const isWhole = choice.kind === undefined && choice.line === undefined && choice.print === undefined;
  return renderBlock({
    id: "lines",
    title: "Errors by kind",
    ...(total > 0 && {
      count: `${counted(total, "kind")}${isWhole && !isAll ? `, ${counted(failed, "build")}` : ""}`,
    }),
    ...(isAll && { note: "The counts are of all time: they ignore the dates, because the period is long." }),
    tools,
    body: html`${isWhole ? "" : renderChoice(facts)}
${
  lines.length === 0
    ? renderNoLines(facts)
    : html`${KEY}
<div class="kind-head" aria-hidden="true"><span>Kind, and below it its lines with most builds</span>
  <span>A day, ${daysName({ first: period.start, last: period.last }, facts.now)}</span><span>Builds</span><span>Projects</span></div>
<ol class="kinds">${groupByPrint(lines).map((ofKind) => renderKind(ofKind, facts))}</ol>
${renderLegend(period)}
${renderPager({ path: ERRORS_PATH, kept: keptQuery(choice), page: choice.page, perPage: PRINTS_PER_PAGE, total, noun: "kind" })}`
}`,
  });
}

/** What the list is narrowed to, and the way out. */
function renderChoice({ choice, href }: ErrorLinesFacts): Markup {
  const { kind, line, print } = choice;
  const only = line !== undefined ? "one line" : print !== undefined ? "one kind" : `“${kindLabel(kind)}”`;
  return html`<p class="note">Only ${only}. <a href="${href(WHOLE)}">All errors</a></p>`;
}

const WHOLE = { kind: undefined, line: undefined, print: undefined };

const KEY = html`<dl class="samekey"><div><dt><svg width="14" height="14" aria-hidden="true">
  <path class="cut" d="M2 0v14" stroke-width="3"/></svg>Same kind</dt>
  <dd>The lines agree except in what a frame like <span class="mask"><i>‹name›</i></span> stands for. A kind may hold many causes:
  its count alone is no alarm.</dd></div>
<div><dt><svg width="14" height="14" aria-hidden="true"><rect class="m-ink" width="4" height="14"/></svg>Same error</dt>
  <dd>The line agrees letter for letter, or differs only in its place, like <span class="mask"><i class="at">‹path›</i></span>.
  Many projects with it point to one cause.</dd></div></dl>`;

/** The orders of the list. */
export function renderSorts({ sort }: ErrorsChoice, period: Period, href: ErrorsHref): Markup {
  const isAll = isAllTime(period);
  const shown = Object.entries(PRINT_SORTS).filter(([by]) => !(isAll && by === "rise"));
  const chosen = isAll && sort === "rise" ? "projects" : sort;
  return html`<nav class="chips" aria-label="Which first">${shown.map(
    ([by, { head }]) =>
      html`<a href="${href({ sort: by })}"${by === chosen ? html` aria-current="true"` : ""}>${head}</a>`,
  )}</nav>`;
}

function renderLegend({ before, days }: Period): Markup {
  const item = (look: string, words: string) =>
    html`<span><svg width="10" height="10" aria-hidden="true"><rect class="${look}" width="10" height="10"/></svg> ${words}</span>`;
  const these = lengthWords(days);
  return html`<p class="kinds-key">${before === null ? "" : item("m-quiet", `the ${these} before`)}
  ${item("m-ink", before === null ? `these ${these}` : `these ${these}, within chance`)}
  ${before === null ? "" : item("m-bad", `these ${these}, more than chance`)}
  <span>Each strip has its own scale.</span></p>`;
}

/** Why the list is empty. A choice that leaves nothing says nothing about builds. */
function renderNoLines({ choice, period, failed, href }: ErrorLinesFacts): Markup {
  const { kind, page, line, print } = choice;
  const of = lengthWords(period.days);
  if (page > 1)
    return renderEmpty({
      kind: "no-match",
      strong: "No such page.",
      say: "The list is shorter.",
      ways: [{ href: href({}), words: "Its first page" }],
    });
  const ways = [{ href: href(WHOLE), words: `All ${grouped(failed)} failed builds of these days` }];
  if (line !== undefined || print !== undefined)
    return renderEmpty({
      kind: "no-match",
      strong: "No such line.",
      say: `No build of ${of} failed with it.`,
      ways,
    });
  return kind === undefined
    ? renderEmpty({
        kind: "unknown",
        strong: "No error line.",
        say: `No build of ${of} is known to have failed.`,
      })
    : renderEmpty({
        kind: "no-match",
        strong: "No line of this kind.",
        say: `No build of ${of} failed with “${kindLabel(kind)}”.`,
        ways,
      });
}
