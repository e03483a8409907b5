import { readFileSync, writeFileSync } from "node:fs";

/** The pages that have such tables, by mark. */
const PAGES = { month: "docs/builds.md", requests: "docs/internals/builds.md" };

/** A table as the docs have it; all columns but the first are of figures. */
export function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map((_, index) => (index === 0 ? "---" : "---:")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |\n`)
    .join("");
}

/** Puts a table between its two marks in its page. */
export function writeTable(mark: keyof typeof PAGES, table: string): void {
  const page = new URL(`../../${PAGES[mark]}`, import.meta.url);
  const text = readFileSync(page, "utf8");
  const [begin, end] = [`<!-- ${mark}:begin -->`, `<!-- ${mark}:end -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${PAGES[mark]} has no place for the table "${mark}"`);
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n\n${table}\n${text.slice(to)}`);
}

export function formatCount(count: number, digits = 0): string {
  return count.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
