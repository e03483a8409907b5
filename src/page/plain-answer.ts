import { html } from "hono/html";
import { DICTIONARY } from "../db/report-dictionary.ts";
import type { Question } from "../report/question.ts";
import { moment } from "./age.ts";
import { renderBlock } from "./block.ts";
import { renderEmpty } from "./empty.ts";
import { buildHref, projectHref } from "./links.ts";
import { type Column, type Row, renderTable } from "./list-table.ts";
import { foreign, grouped, kindLabel, type Markup, percent, slugWords } from "./words.ts";

export interface PlainAnswerFacts {
  readonly id: string;
  readonly title: string;
  readonly question: Question;
  /** The columns that are shown, of those that the question has. The first names the row. */
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
  readonly now: Date;
}

/** The rows of a relation as a table, with the words of its columns. */
export function renderPlainAnswer({ id, title, question, columns, rows, now }: PlainAnswerFacts): Markup {
  const { answers } = DICTIONARY[question.relation];
  return renderBlock({
    id,
    title,
    note: answers.replaceAll("`", ""),
    tools: { question },
    body:
      rows.length === 0
        ? renderEmpty({ kind: "unknown", strong: "No rows.", say: "There is nothing of this in the mirror." })
        : renderTable({
            caption: title,
            columns: columns.map((name, place) => columnOf(name, place === 0, now)),
            rows,
          }),
  });
}

function columnOf(name: string, isName: boolean, now: Date): Column {
  const words = name.replaceAll("_", " ");
  const isNumber =
    /^(?:builds|finished|succeeded|failed|unfinished|failures|projects|requests|records|rank|success_rate.*|.*_share)$/.test(
      name,
    );
  return {
    head: words.charAt(0).toUpperCase() + words.slice(1),
    isName,
    isNumber,
    label: words,
    cell: (row) => cellOf(name, row[name], now),
  };
}

function cellOf(name: string, value: unknown, now: Date): Markup | string | null {
  if (value === null || value === undefined) return null;
  if (name === "project_slug") return html`<a href="${projectHref(String(value))}">${slugWords(value)}</a>`;
  if (name.endsWith("build_id"))
    return html`<a href="${buildHref(String(value))}">${foreign(String(value), 24)}</a>`;
  if (name === "error_class") return kindLabel(value);
  if (/(?:_at|_through)$/.test(name)) return moment(value, now);
  if (/^success_rate|_share$/.test(name)) return percent(Number(value));
  if (/^-?\d+$/.test(String(value)) && name !== "run_id") return grouped(Number(value));
  return foreign(String(value), 120);
}
