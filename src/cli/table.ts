import Table from "cli-table3";
import { printable } from "../printable.ts";

export type Cell = string | number | bigint | boolean | null | undefined;

export interface TableFacts {
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** Columns whose cells stand at the right, by their heads; numbers usually. */
  right?: readonly string[];
  /** Longer texts are cut and end in "…". @default 120 */
  maxCellLength?: number;
  colour: boolean;
}

const NO_LINE = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
} as const;

/**
 * Columns aligned with spaces alone, so that lines can be cut and pasted; ends with a newline. Cells are made printable,
 * null and undefined show as nothing, and wide characters take their two columns.
 */
export function renderTable({ head, rows, right = [], maxCellLength = 120, colour }: TableFacts): string {
  const table = new Table({
    head: [...head],
    colAligns: head.map((name) => (right.includes(name) ? "right" : "left")),
    chars: NO_LINE,
    style: { "padding-left": 0, "padding-right": 0, head: colour ? ["bold"] : [], border: [] },
  });
  for (const row of rows) table.push(row.map((cell) => cut(printable(String(cell ?? "")), maxCellLength)));
  return `${table.toString().replace(/ +$/gm, "")}\n`;
}

/** Cuts between characters as a reader sees them, so that none is torn into its parts. */
function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const characters = [...new Intl.Segmenter().segment(text)];
  if (characters.length <= maxLength) return text;
  return `${characters
    .slice(0, maxLength - 1)
    .map(({ segment }) => segment)
    .join("")}…`;
}
