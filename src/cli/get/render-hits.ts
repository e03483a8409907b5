import { decodeHTMLStrict } from "entities/decode";
import stringWidth from "string-width";
import { printable } from "../../base/text.ts";
import { type Look, paragraph, styled } from "../output/output.ts";
import { cutText, renderTable } from "../output/table.ts";

/** The findings of a search, wherever it searched. */
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
export function renderHits({ head, hits, note }: FoundHits, look: Look): string {
  const { columns } = look;
  const sentence = paragraph(note, look);
  if (hits.length === 0) return sentence;
  const width = columns === undefined ? undefined : Math.max(LEAST_TEXT_WIDTH, columns - INDENT.length);
  const addresses = hits.map(({ address }) => cutText(printable(address), MAX_ADDRESS_LENGTH, () => 1));
  if (head.length === 0) return `${addresses.join("\n")}\n\n${sentence}`;
  const cells = hits.map((hit) => hit.cells);
  const table = renderTable({ head, rows: cells, maxCellLength: 200, mayDrop: true }, look);
  // The table has one line for its head and one for each row.
  const [top = "", ...rows] = table.split("\n");
  const lines = hits.flatMap((hit, index) => {
    const snippets = hit.snippets.slice(0, MAX_SNIPPETS);
    const below = snippets.flatMap((html) => renderSnippet(html, { ...look, columns: width }));
    const indented = [addresses[index], ...below].map((line) => `${INDENT}${line}`.trimEnd());
    return [rows[index] ?? "", ...indented];
  });
  return `${[top, ...lines].join("\n")}\n\n${sentence}`;
}

/** Longer texts are cut: a snippet should show the words, not the page. */
const MAX_SHOWN = 400;

/**
 * A snippet as lines for a terminal, broken between words to fit `columns`; without them it is one line. The words that
 * were searched for are bold and underlined, or stand between asterisks where there are no colours. All white space is
 * one blank.
 */
export function renderSnippet(html: string, look: Look): string[] {
  const parts = readHighlights(html).map(({ text, isMatch }) => ({
    text: printable(text.replace(/\s+/g, " ")),
    isMatch,
  }));
  const whole = parts.map(({ text }) => text).join("");
  const shown = cutText(whole, MAX_SHOWN, () => 1);
  const marks = parts.flatMap(({ text, isMatch }) => Array<boolean>(text.length).fill(isMatch));
  return lineBounds(shown, look.columns ?? Number.POSITIVE_INFINITY).map(([start, end]) => {
    let line = "";
    for (let at = start; at < end; ) {
      let next = at;
      while (next < end && marks[next] === marks[at]) next++;
      const run = shown.slice(at, next);
      line += marks[at] ? mark(run, look) : run;
      at = next;
    }
    return line;
  });
}

/** Where each line begins and ends. A word that is longer than a line has its own. */
function lineBounds(text: string, columns: number): [start: number, end: number][] {
  const lines: [start: number, end: number][] = [];
  let width = 0;
  for (const { 0: word, index } of text.matchAll(/[^ ]+/g)) {
    const wordWidth = stringWidth(word);
    const last = lines.at(-1);
    if (last !== undefined && width + 1 + wordWidth <= columns) {
      last[1] = index + word.length;
      width += 1 + wordWidth;
    } else {
      lines.push([index, index + word.length]);
      width = wordWidth;
    }
  }
  return lines;
}

const mark = (text: string, look: Look): string =>
  look.colour ? styled(["bold", "underline"], text, look) : `*${text}*`;

/** A part of a snippet, as text. */
interface SnippetPart {
  text: string;
  /** The service marked it as a word that was searched for. */
  isMatch: boolean;
}

/** A longer snippet is cut: real ones have some hundred characters. */
const MAX_LENGTH = 4000;
const MARK = /<span class=["']?highlighted["']?\s*>(.*?)<\/span>|<em>(.*?)<\/em>/gis;

/**
 * Reads a snippet of HTML as the searches give it (`docs/interface.md`, "Searches"): the two marks are read,
 * entities are decoded, and every other tag stays as text. The parts are not yet safe for a terminal.
 */
export function readHighlights(html: string): SnippetPart[] {
  const snippet = html.slice(0, MAX_LENGTH);
  const parts: SnippetPart[] = [];
  let end = 0;
  for (const found of snippet.matchAll(MARK)) {
    parts.push({ text: decodeHTMLStrict(snippet.slice(end, found.index)), isMatch: false });
    parts.push({ text: decodeHTMLStrict(found[1] ?? found[2] ?? ""), isMatch: true });
    end = found.index + found[0].length;
  }
  parts.push({ text: decodeHTMLStrict(snippet.slice(end)), isMatch: false });
  return parts.filter(({ text }) => text !== "");
}
