import { readFileSync, writeFileSync } from "node:fs";

const DOC = new URL("../../docs/builds.md", import.meta.url);

/** A table as the docs have it; all columns but the first are of figures. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map((_, index) => (index === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |\n`)
    .join("");
}

/** Puts a table between its two marks in docs/builds.md. */
export function writeTable(mark: string, table: string): void {
  const text = readFileSync(DOC, "utf8");
  const [begin, end] = [`<!-- ${mark}:begin -->`, `<!-- ${mark}:end -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`docs/builds.md has no place for the table "${mark}"`);
  writeFileSync(DOC, `${text.slice(0, from + begin.length)}\n\n${table}\n${text.slice(to)}`);
}

export function formatCount(count: number, digits = 0): string {
  return count.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
