import { grouped } from "../../base/text.ts";
import type { Row } from "./answers.ts";
import { html, type Markup } from "./html.ts";
import { CURRENT, type Query, withQuery } from "./links.ts";
import { icon } from "./marks.ts";

/** A column of a table. Below 704 px each row of a list is a card, and its cells have their labels. */
export interface Column<R = Row> {
  readonly head: Markup | string;
  cell(row: R): Markup | string | number | null;
  /** Names the row for a screen reader, and is the title of a card. @default false */
  readonly isName?: boolean;
  /** Aligned to the right, as numbers are. @default false */
  readonly isNumber?: boolean;
  /** In a card: over its whole width, or at its left. @default at its right */
  readonly place?: "wide" | "left";
  /** The label within a card. @default the head of a number, else none */
  readonly label?: string;
  /** The order of the list when its head is followed. @default it cannot be sorted by this column */
  readonly sort?: string;
}

/** A column of numbers; null is a dash. */
export const numberColumn = <R>(
  head: string,
  cell: (row: R) => Markup | string | number | null,
): Column<R> => ({
  head,
  isNumber: true,
  cell(row) {
    const found = cell(row) ?? "–";
    return typeof found === "number" ? grouped(found) : found;
  },
});

/** The words of a state beside its sign. */
export const renderState = (sign: Markup, words: Markup | string): Markup =>
  html`<span class="state">${sign}<span>${words}</span></span>`;

interface SortFacts {
  readonly path: string;
  /** The other filters, which are kept. */
  readonly kept: Query;
  /** The order of the list, and which way it goes. */
  readonly by: string;
  readonly direction: "ascending" | "descending";
}

interface ListTableFacts<R> {
  readonly caption: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  /** Its class beside that of all lists. @default none */
  readonly kind?: string;
  /** @default the list cannot be sorted */
  readonly sort?: SortFacts;
}

/** Rows as a table; on a phone as cards, with links to sort by above them. */
export function renderListTable<R>({ caption, columns, rows, kind, sort }: ListTableFacts<R>): Markup {
  // The roles are written out: a table that is shown as cards would lose them.
  return html`${sort && renderSorts(columns, sort)}
    <table role="table" class="stack${kind && ` ${kind}`}"><caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">${columns.map((column) => renderHeading(column, sort))}</tr></thead>
    <tbody role="rowgroup">
${rows.map(
  (row) => html`<tr role="row">${columns.map((column) => renderCell(column, row))}</tr>
`,
)}</tbody></table>`;
}

/** A link of a hidden head could be reached by keyboard, so a card has its words alone, for a screen reader. */
function renderHeading<R>({ head, isNumber, sort: by }: Column<R>, sort: SortFacts | undefined): Markup {
  const kind = isNumber && html` class="num"`;
  if (by === undefined || sort === undefined)
    return html`<th role="columnheader" scope="col"${kind}>${head}</th>`;
  const isSorted = by === sort.by;
  return html`<th role="columnheader" scope="col"${kind}${isSorted && html` aria-sort="${sort.direction}"`}>
    <a href="${sortHref(sort, by)}">${head}${isSorted && icon(sort.direction === "ascending" ? "up" : "down")}</a>
    <span class="head">${head}</span></th>`;
}

/** On a phone the head of the table is hidden, and these take its place. */
const renderSorts = <R>(columns: readonly Column<R>[], sort: SortFacts): Markup =>
  html`<nav class="sorts chips" aria-label="Sort by"><span class="quiet">Sort by</span>${columns.map(
    ({ head, sort: by }) =>
      by && html`<a href="${sortHref(sort, by)}"${by === sort.by && CURRENT}>${head}</a>`,
  )}</nav>`;

const sortHref = ({ path, kept }: SortFacts, by: string): string => withQuery(path, { ...kept, sort: by });

function renderCell<R>(column: Column<R>, row: R): Markup {
  const { head, isName, isNumber, place, label = isNumber && String(head).toLowerCase() } = column;
  const cell = column.cell(row);
  if (isName) return html`<th role="rowheader" scope="row" class="pname">${cell}</th>`;
  const classes = [isNumber && "num", place === undefined ? "right" : place === "wide" && place];
  return html`<td role="cell" class="${classes.filter(Boolean).join(" ")}"${label && html` data-l="${label}"`}>${cell}</td>`;
}

interface FoldTableFacts<R> {
  /** @default The same as a table */
  readonly title?: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  /** Stands in place of the figures of a row. @default nothing does */
  gap?(row: R): string | false;
}

/** The figures of a chart as a table, folded below it; its first column names the rows. */
export function renderFoldTable<R>(facts: FoldTableFacts<R>): Markup {
  const { title = "The same as a table", columns, rows, gap } = facts;
  const kindOf = ({ isNumber }: Column<R>) => isNumber && html` class="num"`;
  const [name, ...figures] = columns;
  return html`<details class="fold">
    <summary>${title}</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="${title}">
      <table><thead><tr>${columns.map((one) => html`<th scope="col"${kindOf(one)}>${one.head}</th>`)}</tr></thead><tbody>
${rows.map((row) => {
  const instead = gap?.(row);
  return html`<tr><th scope="row">${name?.cell(row)}</th>${
    instead
      ? html`<td colspan="${figures.length}">${instead}</td>`
      : figures.map((one) => html`<td${kindOf(one)}>${one.cell(row)}</td>`)
  }</tr>
`;
})}</tbody></table>
    </div>
  </details>`;
}

interface ListRow {
  readonly name: Markup | string;
  /** At the right: how old it is, as `age` draws it. */
  readonly age?: Markup;
  /** At the right. */
  readonly figure?: Markup | string | undefined;
  /** Below the name. */
  readonly small?: Markup | string;
}

/** Rows of a name with an age or a figure, and `more` below them, where there is more than they show. */
export const renderRows = (rows: readonly ListRow[], more?: Markup | string | false): Markup =>
  html`<ul class="rows">${rows.map(
    ({ name, age, figure, small }) => html`<li><span>${name}</span>${age}
      ${figure !== undefined && html`<span class="n">${figure}</span>`}${small !== undefined && html`<small>${small}</small>`}</li>
`,
  )}</ul>${more && html`<p class="more">${more}</p>`}`;

/** A fact by its label; false is left out. */
export type Fact = readonly [label: string, words: Markup | string | false];

export const renderFacts = (facts: readonly Fact[]): Markup =>
  html`<dl class="facts">${facts.map(
    ([label, words]) => words !== false && html`<div><dt>${label}</dt><dd>${words}</dd></div>`,
  )}</dl>`;
