import type { Row } from "./answers.ts";
import { html, type Markup } from "./html.ts";
import { type Query, withQuery } from "./links.ts";
import { icon } from "./marks.ts";

/** A column of a list. Below 704 px each row is a card, and its cells have their labels. */
export interface Column<R = Row> {
  readonly head: string;
  cell(row: R): Markup | string | number | null;
  /** Names the row for a screen reader, and is the title of a card. @default false */
  readonly isName?: boolean;
  /** Aligned to the right, as numbers are. @default false */
  readonly isNumber?: boolean;
  /** Takes the whole width of a card. @default false */
  readonly isWide?: boolean;
  /** The label within a card, where the cell does not say it by itself. @default none */
  readonly label?: string;
  /** What the list is sorted by when its head is followed. @default it cannot be sorted by this column */
  readonly sort?: string;
}

interface SortFacts {
  readonly path: string;
  /** The other filters, which are kept. */
  readonly kept: Query;
  /** What the list is sorted by, and which way. */
  readonly by: string;
  readonly direction: "ascending" | "descending";
}

interface ListTableFacts<R> {
  readonly caption: string;
  readonly columns: readonly Column<R>[];
  readonly rows: readonly R[];
  /** @default the list cannot be sorted */
  readonly sort?: SortFacts;
}

/** Rows as a table; on a phone as cards, with links to sort by above them. */
export function renderListTable<R>({ caption, columns, rows, sort }: ListTableFacts<R>): Markup {
  // The roles are written out: a table that is shown as cards would lose them.
  return html`${sort === undefined ? "" : renderSorts(columns, sort)}
    <table role="table" class="stack"><caption class="unseen">${caption}</caption>
    <thead role="rowgroup"><tr role="row">${columns.map((column) => renderHeading(column, sort))}</tr></thead>
    <tbody role="rowgroup">
${rows.map(
  (row) => html`<tr role="row">${columns.map((column) => renderCell(column, row))}</tr>
`,
)}</tbody></table>`;
}

function renderHeading<R>({ head, isNumber, sort: by }: Column<R>, sort: SortFacts | undefined): Markup {
  const kind = isNumber ? html` class="num"` : "";
  if (by === undefined || sort === undefined)
    return html`<th role="columnheader" scope="col"${kind}>${head}</th>`;
  const isSorted = by === sort.by;
  const order = isSorted ? html` aria-sort="${sort.direction}"` : "";
  const arrow = isSorted ? icon(sort.direction === "ascending" ? "up" : "down") : "";
  return html`<th role="columnheader" scope="col"${kind}${order}>
    <a href="${sortHref(sort, by)}">${head}${arrow}</a></th>`;
}

/** On a phone the head of the table is hidden, and these take its place. */
function renderSorts<R>(columns: readonly Column<R>[], sort: SortFacts): Markup {
  return html`<nav class="sorts chips" aria-label="Sort by"><span class="quiet">Sort by</span>${columns.map(
    ({ head, sort: by }) =>
      by === undefined
        ? ""
        : html`<a href="${sortHref(sort, by)}"${by === sort.by ? html` aria-current="true"` : ""}>${head}</a>`,
  )}</nav>`;
}

const sortHref = ({ path, kept }: SortFacts, by: string): string => withQuery(path, { ...kept, sort: by });

function renderCell<R>({ cell, isName, isNumber, isWide, label }: Column<R>, row: R): Markup {
  const classes = [isName && "pname", isNumber && "num", isWide ? "wide" : !isName && "right"];
  const kind = html` class="${classes.filter(Boolean).join(" ")}"`;
  const tag = label === undefined ? "" : html` data-l="${label}"`;
  return isName
    ? html`<th role="rowheader" scope="row"${kind}>${cell(row)}</th>`
    : html`<td role="cell"${kind}${tag}>${cell(row)}</td>`;
}

/** The figures of a chart as a table, folded below it; `heads` are the cells of its head. */
export function renderFoldTable(
  heads: readonly Markup[],
  rows: Markup | readonly Markup[],
  title = "The same as a table",
): Markup {
  return html`<details class="fold">
    <summary>${title}</summary>
    <div class="scroll" tabindex="0" role="region" aria-label="${title}">
      <table><thead><tr>${heads}</tr></thead><tbody>${rows}</tbody></table>
    </div>
  </details>`;
}

/** A head of a column of numbers, or of words. */
export const headCell = (words: string, kind: "num" | "" = ""): Markup =>
  html`<th scope="col"${kind === "" ? "" : html` class="${kind}"`}>${words}</th>`;

export const numberCell = (words: string | number): Markup => html`<td class="num">${words}</td>`;
