import { html, raw } from "hono/html";
import { DICTIONARY, type Relation } from "../db/report-dictionary.ts";
import { type FilterName, type Filters, filtersOf, type Question } from "../report/question.ts";
import type { Answers } from "./ask-all.ts";
import type { Column, Row } from "./cells.ts";
import { withQuery } from "./links.ts";
import { applicable, type PageFilters, scopeWords } from "./page-filters.ts";
import type { Markup } from "./words.ts";

/** The filters of a page, and its project. */
export interface PageScope {
  readonly filters: PageFilters;
  /** Undefined on the page of all projects. */
  readonly project?: string;
}

/**
 * One answer on a page: a heading, its meaning, perhaps a chart, the rows, and links to the same rows as CSV
 * and SQL.
 */
export interface BlockSpec {
  readonly id: string;
  readonly title: string;
  readonly relation: Relation;
  /**
   * Its meaning, if that differs from the sentence of the relation. @default the sentence of the dictionary
   */
  readonly meaning?: string;
  /** The filters of the page that apply to the block. The block says that the others do not. */
  readonly filters: readonly FilterName[];
  /** False for a block that is not about builds: no filter applies to it. @default true */
  readonly isOfBuilds?: boolean;
  /** Further rows are only in the CSV. */
  readonly limit: number;
  ask(filters: Filters): Question;
  /**
   * A chart of the rows, oldest first, and perhaps of other answers of the page. The table is folded below
   * it.
   */
  chart?(rows: readonly Row[], answers: Answers): Promise<string>;
  readonly columns: readonly Column[];
  /** The text shown when there are no rows. Often it is good news. */
  readonly empty: string;
}

/** The filters for the question of a block. */
export function filtersFor(spec: BlockSpec, { filters, project }: PageScope): Filters {
  const own = applicable(filters, spec.filters);
  return {
    ...own,
    ...(project !== undefined && filtersOf(spec.relation).includes("project") && { project }),
  };
}

/** The question of a block, as its SQL shows it. */
export function questionOf(spec: BlockSpec, scope: PageScope): Question {
  return spec.ask({ ...filtersFor(spec, scope), limit: spec.limit });
}

export async function renderBlock(
  spec: BlockSpec,
  scope: PageScope,
  question: Question,
  answers: Answers,
): Promise<Markup> {
  const rows = await answers.of(spec.id);
  const words = spec.isOfBuilds === false ? "" : scopeWords(scope.filters, spec.filters);
  // If no relation has the answer, the CSV has the builds from which it is computed.
  const taken = filtersOf(question.relation);
  const filters = Object.entries(filtersFor(spec, scope)).filter(([name]) =>
    taken.includes(name as FilterName),
  );
  const csv = withQuery(`/report/${question.relation}.csv`, Object.fromEntries(filters));
  const table = rows.length === 0 ? html`<p class="empty">${spec.empty}</p>` : renderTable(spec, rows);
  const chart = spec.chart ? await spec.chart(rows.toReversed(), answers) : null;
  return html`<section class="block" id="${spec.id}" aria-labelledby="${spec.id}-title">
<h2 id="${spec.id}-title">${spec.title}</h2>
<p class="meaning">${sentence(spec.meaning ?? DICTIONARY[spec.relation].answers)}${words === "" ? "" : html` <span class="scope">${words}.</span>`}</p>
${
  chart === null
    ? table
    : html`${raw(chart)}
<details class="numbers"><summary>The same as a table<span class="unseen">: ${spec.title}</span></summary>
${table}
</details>`
}
<div class="ways">
<p><a href="${csv}">CSV<span class="unseen"> of ${question.relation}: ${spec.title}</span></a>${rows.length === spec.limit ? html` <span class="more">The first ${spec.limit} are shown; the CSV has all.</span>` : ""}</p>
<details class="sql"><summary>Show SQL<span class="unseen">: ${spec.title}</span></summary>
<pre tabindex="0">${question.readable}</pre>
</details>
</div>
</section>`;
}

/** A table in its own box: on a phone the box scrolls, not the page. */
function renderTable({ title, columns }: BlockSpec, rows: readonly Row[]): Markup {
  const head = columns.map(
    ({ head, isNumber }) => html`<th scope="col"${isNumber ? html` class="number"` : ""}>${head}</th>`,
  );
  const body = rows.map(
    (row) => html`<tr>${columns.map((column) => renderCell(column, row))}</tr>
`,
  );
  return html`<div class="scroll" role="region" aria-label="${title}, table" tabindex="0"><table>
<caption class="unseen">${title}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table></div>`;
}

function renderCell({ isNumber, isLong, isName, cell }: Column, row: Row): Markup {
  const kind = isNumber ? html` class="number"` : isLong ? html` class="long"` : "";
  return isName ? html`<th scope="row"${kind}>${cell(row)}</th>` : html`<td${kind}>${cell(row)}</td>`;
}

/** A sentence of the dictionary. Text between backticks is code. */
export function sentence(text: string): Markup {
  const parts = text.split("`");
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
