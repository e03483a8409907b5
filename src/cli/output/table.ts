import stringWidth from "string-width";
import { printable } from "../../base/text.ts";
import { type Look, styled } from "./output.ts";

export type Cell = string | number | boolean | null | undefined;

interface TableFacts {
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** Heads of the columns of texts that are aligned to the right, such as durations. @default none */
  right?: readonly string[];
  /** Longer texts are cut and end in "…". @default LONGEST_CELL */
  maxCellLength?: number;
  /** Columns at the end are left out where even cut texts do not fit. @default false */
  mayDrop?: boolean;
}

/** In characters. */
const LONGEST_CELL = 120;

/**
 * Renders columns aligned only with spaces, so that lines can be copied; ends with a newline. Columns of numbers are aligned to the right.
 * Cells are made printable, null and undefined are empty, and wide characters take two columns. Texts are cut further to fit a terminal's
 * `columns`, and not for a file.
 */
export function renderTable(
  { head, rows, right = [], maxCellLength = LONGEST_CELL, mayDrop = false }: TableFacts,
  look: Look,
): string {
  const lines = rows.map((row) =>
    head.map((_, index) => printable(String(cutCell(row[index], maxCellLength) ?? ""))),
  );
  const facts = head.map((name, index) => {
    const isRight = right.includes(name) || areNumbers(rows.map((row) => row[index]));
    return widthOf([name, ...lines.map((cells) => cells[index] ?? "")], isRight);
  });
  const shown = look.columns === undefined ? facts : fitColumns(facts, look.columns, mayDrop);
  const draw = (cells: readonly string[]) => {
    const parts = shown.map(({ now, isRight }, index) => {
      const text = cutText(cells[index] ?? "", now);
      const blanks = " ".repeat(Math.max(0, now - stringWidth(text)));
      return isRight ? blanks + text : text + blanks;
    });
    return parts.join(" ".repeat(GAP)).trimEnd();
  };
  return [styled("bold", draw(head), look), ...lines.map(draw)].map((line) => `${line}\n`).join("");
}

function areNumbers(cells: readonly Cell[]): boolean {
  const known = cells.filter((cell) => cell !== null && cell !== undefined);
  return known.length > 0 && known.every((cell) => typeof cell === "number");
}

/** A cell as a table shows it, so that rows can be held until the table is drawn. */
export function cutCell<T extends Cell>(cell: T, maxLength = LONGEST_CELL): T | string {
  return typeof cell === "string" ? cutText(cell, maxLength, () => 1) : cell;
}

const GAP = 2;
/** Texts that are cut shorter than this are of no use. */
const LEAST_TEXT = 8;
/** A further column is left out where it would cut other texts shorter than this. */
const GOOD_TEXT = 12;
const MOMENT = /^\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d)?)?$/;

interface Width {
  isRight: boolean;
  now: number;
  good: number;
  least: number;
}

/**
 * Fits the columns of a table into `most` characters. The widest texts are cut first; numbers, days and moments are
 * never cut. With `mayDrop`, columns at the end are left out where the others would be cut too short. Without it, or
 * where a single column is too wide, the table stays wider.
 */
function fitColumns(columns: readonly Width[], most: number, mayDrop: boolean): readonly Width[] {
  const widths = [...columns];
  while (mayDrop && widths.length > 1 && total(widths, "good") > most) widths.pop();
  for (let over = total(widths, "now") - most; over > 0; over--) {
    const widest = findWidest(widths);
    if (widest === undefined) break;
    widest.now -= 1;
  }
  return widths;
}

/** Numbers are never cut: half a number is another number. */
function widthOf([head = "", ...cells]: readonly string[], isRight: boolean): Width {
  const now = Math.max(...[head, ...cells].map((text) => stringWidth(text)));
  const isFirm = isRight || cells.every((cell) => cell === "" || MOMENT.test(cell));
  return {
    isRight,
    now,
    good: isFirm ? now : Math.min(now, GOOD_TEXT),
    least: isFirm ? now : Math.min(now, LEAST_TEXT),
  };
}

function findWidest(widths: readonly Width[]): Width | undefined {
  const open = widths.filter(({ now, least }) => now > least);
  return open.reduce<Width | undefined>((a, b) => (a === undefined || b.now > a.now ? b : a), undefined);
}

function total(widths: readonly Width[], which: "now" | "good"): number {
  return widths.reduce((sum, width) => sum + width[which], 0) + GAP * Math.max(0, widths.length - 1);
}

const SEGMENTER = new Intl.Segmenter();
/** Code units, with all marks. The segmenter reads all that it is given first, and a log has megabytes. */
const LONGEST_CHARACTER = 32;

/**
 * Cuts a text to `most` columns, between characters as a reader sees them. `measure` may count something else. A text that
 * was cut keeps nothing of the long one in memory.
 */
export function cutText(text: string, most: number, measure: (character: string) => number = stringWidth) {
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
