import type { Row } from "./model/rates.ts";

/** A row of a written table: texts by column, null where the table has a dot. */
export type TextRow = Record<string, string | null>;

/** Reads a table that is written down: a line a row, cells between bars, the first line names the columns, `·` is null. */
export function parseTable(text: string): TextRow[] {
  const [head = [], ...lines] = text
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
  return lines.map((cells) => {
    if (cells.length !== head.length)
      throw new Error(`"${cells.join(" | ")}" has not the columns of its table`);
    return Object.fromEntries(
      head.map((column, index) => [column, cells[index] === "·" ? null : (cells[index] ?? "")]),
    );
  });
}

/** What a cell says for a column that holds such a value: numbers may be written as a fraction, `2/3`. */
export function cellValue(cell: string | null, like: Row[string]): Row[string] {
  if (cell === null) return null;
  if (typeof like === "boolean") return cell === "true";
  if (typeof like !== "number") return cell;
  const [over, under = "1"] = cell.split("/");
  return Number(over) / Number(under);
}
