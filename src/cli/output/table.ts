import Table from "cli-table3";
import stringWidth from "string-width";
import { printable } from "../../base/text.ts";

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

export interface ColumnFacts {
  head: string;
  cells: readonly string[];
  /** Numbers are never cut: half a number is another number. */
  isNumeric: boolean;
}

const GAP = 2;
/** Texts that are cut shorter than this are of no use. */
const LEAST_TEXT = 8;
/** A further column is left out where it would cut other texts shorter than this. */
const GOOD_TEXT = 12;
const MOMENT = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d)?)?$/;

interface Width {
  now: number;
  good: number;
  least: number;
}

/**
 * The width of each column of a table that must fit into `most` characters. The widest texts are cut first;
 * numbers, days and moments are never cut. With `mayDrop`, columns at the end are left out where the others
 * would be cut too short. Without it, or where a single column is too wide, the table stays wider.
 */
export function fitColumns(
  columns: readonly ColumnFacts[],
  most: number,
  { mayDrop }: { mayDrop: boolean },
): number[] {
  const widths = columns.map(widthOf);
  while (mayDrop && widths.length > 1 && total(widths, "good") > most) widths.pop();
  for (let over = total(widths, "now") - most; over > 0; over--) {
    const widest = findWidest(widths);
    if (widest === undefined) break;
    widest.now -= 1;
  }
  return widths.map(({ now }) => now);
}

function widthOf({ head, cells, isNumeric }: ColumnFacts): Width {
  const widest = Math.max(0, ...cells.map((cell) => stringWidth(cell)));
  const now = Math.max(stringWidth(head), widest);
  const isFirm = isNumeric || cells.every((cell) => cell === "" || MOMENT.test(cell));
  return {
    now,
    good: isFirm ? now : Math.min(now, GOOD_TEXT),
    least: isFirm ? now : Math.min(now, LEAST_TEXT),
  };
}

function findWidest(widths: readonly Width[]): Width | undefined {
  const open = widths.filter(({ now, least }) => now > least);
  return open.reduce<Width | undefined>((a, b) => (a === undefined || b.now > a.now ? b : a), undefined);
}

function total(widths: readonly Width[], which: keyof Width): number {
  return widths.reduce((sum, width) => sum + width[which], 0) + GAP * Math.max(0, widths.length - 1);
}

const SEGMENTER = new Intl.Segmenter();
/** Code units, with all marks. The segmenter reads all that it is given first, and a log has megabytes. */
const LONGEST_CHARACTER = 32;

/**
 * Cuts a text to `most` columns, between characters as a reader sees them. `measure` may count something else. A text that
 * was cut keeps nothing of the long one in memory.
 */
export function cutText(
  text: string,
  most: number,
  measure: (character: string) => number = stringWidth,
): string {
  // Most texts are short and ASCII.
  if (text.length <= most && isAscii(text)) return text;
  const kept: string[] = [];
  let width = 0;
  let fits = 0;
  const near = text.slice(0, most * LONGEST_CHARACTER);
  for (const { segment } of SEGMENTER.segment(near)) {
    width += measure(segment);
    if (width > most) break;
    kept.push(segment);
    if (width < most) fits = kept.length;
  }
  if (width <= most && near.length === text.length) return text;
  return `${kept.slice(0, fits).join("")}…`;
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
