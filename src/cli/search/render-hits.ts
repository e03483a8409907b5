import { printable } from "../../base/text.ts";
import { breakLines } from "../output/break-lines.ts";
import { cutText } from "../output/cut-text.ts";
import type { Output } from "../output/output.ts";
import { renderTable } from "../output/table.ts";
import { renderSnippet } from "./render-snippet.ts";

/** What a search found, wherever it searched. */
export interface FoundHits {
  /** The heads of the columns. Without any, the addresses alone are shown. */
  head: readonly string[];
  hits: readonly {
    cells: readonly string[];
    /** Shown whole on a line of its own, so that it can be copied. */
    address: string;
    /** Snippets of HTML with marked words, shown below the row. */
    snippets: readonly string[];
  }[];
  /** A sentence about how many hits there are. */
  note: string;
}

const INDENT = "    ";
/** A hit shows its first snippets. */
const MAX_SNIPPETS = 5;
const MAX_ADDRESS_LENGTH = 2000;
const LEAST_TEXT_WIDTH = 20;

/** The hits as a table, each with its address and its snippets below its row, and the note at the end. */
export function renderHits(
  { head, hits, note }: FoundHits,
  { colour, columns }: Pick<Output, "colour" | "columns">,
): string {
  const sentence = `${breakLines(note, columns ?? Number.POSITIVE_INFINITY).join("\n")}\n`;
  if (hits.length === 0) return sentence;
  const width = columns === undefined ? undefined : Math.max(LEAST_TEXT_WIDTH, columns - INDENT.length);
  const addresses = hits.map(({ address }) => cutText(printable(address), MAX_ADDRESS_LENGTH, () => 1));
  if (head.length === 0) return `${addresses.join("\n")}\n\n${sentence}`;
  const cells = hits.map((hit) => hit.cells);
  const table = renderTable({ head, rows: cells, maxCellLength: 200, columns, mayDrop: true, colour });
  // The table has one line for its head and one for each row.
  const [top = "", ...rows] = table.split("\n");
  const lines = hits.flatMap((hit, index) => {
    const snippets = hit.snippets.slice(0, MAX_SNIPPETS);
    const below = snippets.flatMap((html) => renderSnippet(html, { colour, columns: width }));
    const indented = [addresses[index], ...below].map((line) => `${INDENT}${line}`.trimEnd());
    return [rows[index] ?? "", ...indented];
  });
  return `${[top, ...lines].join("\n")}\n\n${sentence}`;
}
