import Table from "cli-table3";
import { printable } from "../../base/text.ts";
import { cutText } from "./cut-text.ts";
import { fitColumns } from "./fit-columns.ts";

export type Cell = string | number | bigint | boolean | null | undefined;

export interface TableFacts {
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** Heads of the columns that are aligned to the right; usually numbers. */
  right?: readonly string[];
  /** Longer texts are cut and end in "…". @default LONGEST_CELL */
  maxCellLength?: number;
  /** The terminal's width; texts are cut further to fit it. @default not cut further, as for a file */
  columns?: number | undefined;
  /** Whether columns at the end are left out where even cut texts do not fit. @default false */
  mayDrop?: boolean;
  colour: boolean;
}

/** In characters. */
const LONGEST_CELL = 120;

/** Where cli-table3 draws lines. */
const LINES =
  "top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid";
const NO_LINES = { ...Object.fromEntries(LINES.split(" ").map((line) => [line, ""])), middle: "  " };

/**
 * Renders columns aligned only with spaces, so that lines can be copied; ends with a newline. Cells are made
 * printable, null and undefined are empty, and wide characters take two columns.
 */
export function renderTable(facts: TableFacts): string {
  const { head, right = [], maxCellLength = LONGEST_CELL, colour } = facts;
  const texts = facts.rows.map((row) =>
    row.map((cell) => printable(String(cutCell(cell, maxCellLength) ?? ""))),
  );
  const widths = widthsOf(facts, texts);
  const shorten = (cells: readonly string[]) =>
    widths === null ? [...cells] : widths.map((width, index) => cutText(cells[index] ?? "", width));
  const shown = head.slice(0, widths?.length);
  const table = new Table({
    head: shorten(head),
    colAligns: shown.map((name) => (right.includes(name) ? "right" : "left")),
    chars: NO_LINES,
    style: { "padding-left": 0, "padding-right": 0, head: colour ? ["bold"] : [], border: [] },
  });
  for (const row of texts) table.push(shorten(row));
  return `${table.toString().replace(/ +$/gm, "")}\n`;
}

/** A cell as a table shows it, so that rows can be held until the table is drawn. */
export function cutCell<T extends Cell>(cell: T, maxLength = LONGEST_CELL): T | string {
  return typeof cell === "string" ? cutText(cell, maxLength, countCharacter) : cell;
}

const countCharacter = (): number => 1;

function widthsOf(
  { head, right = [], columns, mayDrop = false }: TableFacts,
  texts: readonly (readonly string[])[],
): number[] | null {
  if (columns === undefined) return null;
  const facts = head.map((name, index) => ({
    head: name,
    cells: texts.map((row) => row[index] ?? ""),
    isNumeric: right.includes(name),
  }));
  return fitColumns(facts, columns, { mayDrop });
}
