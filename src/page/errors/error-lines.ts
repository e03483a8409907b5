import { renderBlock } from "../parts/block.ts";
import { renderChips } from "../parts/chips.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { type Query, withQuery } from "../parts/links.ts";
import type { Offer } from "../parts/offers.ts";
import { renderPager } from "../parts/pager.ts";
import { daysName, lengthWords, type Period } from "../parts/period.ts";
import type { Row } from "../parts/row.ts";
import { counted, grouped, kindLabel, type Markup } from "../parts/words.ts";
import { type ErrorsChoice, isAllTime, PRINT_SORTS, PRINTS_PER_PAGE } from "./errors-questions.ts";
import { type KindFacts, renderKind } from "./kind-lines.ts";

const PATH = "/errors";

export interface ErrorLinesFacts extends KindFacts {
  /** The chosen days, as they stand in the address. */
  readonly since: string | undefined;
  /** The kinds of this page; each row has the number of all of them. */
  readonly prints: readonly Row[];
  /** How many lines each class has. */
  readonly perKind: readonly Row[];
  /** Failed builds of the period, of all classes. */
  readonly failed: number;
  readonly tools: Offer;
}

/** Kinds of error lines by what their lines share, and below each its lines with most builds. */
export function renderErrorLines(facts: ErrorLinesFacts): Markup {
  const { choice, period, since, prints, perKind, tools } = facts;
  const { kind, sort, page, line, print } = choice;
  const total = Number(prints[0]?.kinds ?? 0);
  const kept = { kind, line, print, since };
  const sorting = sort === "rise" ? undefined : sort;
  const isAll = isAllTime(period);
  const all = perKind.reduce((sum, row) => sum + Number(row.lines), 0);
  const classes = [
    { label: "All", value: undefined, ...(!isAll && { count: all }) },
    ...perKind
      .toSorted((a, b) => Number(b.lines) - Number(a.lines))
      .map(({ error_class, lines: count }) => ({
        label: kindLabel(error_class),
        value: String(error_class),
        ...(!isAll && { count: Number(count) }),
      })),
  ];
  const chips = renderChips({
    label: "Kind of error",
    path: PATH,
    name: "kind",
    chosen: kind,
    kept: { since, sort: sorting },
    chips: classes,
  });
  const isOne = line !== undefined || print !== undefined;
  return renderBlock({
    id: "lines",
    title: "Error lines",
    ...(total > 0 && { count: counted(total, "kind") }),
    ...(isAll && { note: "The counts are of all time: they ignore the dates, because the period is long." }),
    tools,
    body: html`${
      isOne
        ? html`<p class="note">Only ${line === undefined ? "one kind" : "one line"}. <a href="${withQuery(PATH, { since })}#lines">All error lines</a></p>`
        : html`<div class="bar">${chips}</div>`
    }
${
  prints.length === 0
    ? renderNoLines(facts)
    : html`${KEY}
${isOne ? "" : renderSorts(choice, kept, isAll)}
<div class="kind-head" aria-hidden="true"><span>Kind, and below it its lines with most builds</span>
  <span>A day, ${daysName({ first: period.start, last: period.last }, facts.now)}</span><span>Builds</span><span>Projects</span></div>
<ol class="kinds">${prints.map((row) => renderKind(row, facts))}</ol>
${renderLegend(period)}
${renderPager({ path: PATH, kept: { ...kept, sort: sorting }, page, perPage: PRINTS_PER_PAGE, total, noun: "kind" })}`
}`,
  });
}

const KEY = html`<dl class="samekey"><div><dt><svg width="14" height="14" aria-hidden="true">
  <path class="cut" d="M2 0v14" stroke-width="3"/></svg>Same kind</dt>
  <dd>The lines agree except in what a frame like <span class="mask"><i>‹name›</i></span> stands for. A kind may hold many causes:
  its count alone is no alarm.</dd></div>
<div><dt><svg width="14" height="14" aria-hidden="true"><rect class="m-ink" width="4" height="14"/></svg>Same error</dt>
  <dd>The line agrees letter for letter, or differs only in its place, like <span class="mask"><i class="at">‹path›</i></span>.
  Many projects with it point to one cause.</dd></div></dl>`;

/** The orders of the list. */
function renderSorts({ sort }: ErrorsChoice, kept: Query, isAll: boolean): Markup {
  const href = (by: string) => `${withQuery(PATH, { ...kept, sort: by === "rise" ? undefined : by })}#lines`;
  const shown = Object.entries(PRINT_SORTS).filter(([by]) => !(isAll && by === "rise"));
  const chosen = isAll && sort === "rise" ? "projects" : sort;
  return html`<nav class="chips sort-lines" aria-label="Which first">${shown.map(
    ([by, { head }]) =>
      html`<a href="${href(by)}"${by === chosen ? html` aria-current="true"` : ""}>${head}</a>`,
  )}</nav>`;
}

function renderLegend({ before, days }: Period): Markup {
  const item = (look: string, words: string) =>
    html`<span><svg width="10" height="10" aria-hidden="true"><rect class="${look}" width="10" height="10"/></svg> ${words}</span>`;
  const these = lengthWords(days);
  return html`<p class="kinds-key">${before === null ? "" : item("m-quiet", `the ${these} before`)}
  ${item("m-ink", `these ${these}, within chance`)} ${before === null ? "" : item("m-bad", `these ${these}, more than chance`)}
  <span>Each strip has its own scale.</span></p>`;
}

/** Why the list is empty. A choice that leaves nothing says nothing about builds. */
function renderNoLines({ choice, period, since, failed }: ErrorLinesFacts): Markup {
  const { kind, page, line, print } = choice;
  const of = lengthWords(period.days);
  const ways = [
    { href: withQuery(PATH, { since }), words: `All ${grouped(failed)} failed builds of these days` },
  ];
  if (page > 1)
    return renderEmpty({
      kind: "no-match",
      strong: "No such page.",
      say: "The list is shorter.",
      ways: [{ href: withQuery(PATH, { kind, line, print, since }), words: "Its first page" }],
    });
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
