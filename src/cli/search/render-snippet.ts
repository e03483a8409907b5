import { styleText } from "node:util";
import stringWidth from "string-width";
import { printable } from "../../base/text.ts";
import { cutText } from "../output/cut-text.ts";
import { readHighlights } from "./read-highlights.ts";

/** Longer texts are cut: a snippet should show the words, not the page. */
const MAX_SHOWN = 400;

/**
 * A snippet as lines for a terminal, broken between words to fit `columns`; without them it is one line. The words that
 * were searched for are bold and underlined, or stand between asterisks where there are no colours. All white space is
 * one blank.
 */
export function renderSnippet(
  html: string,
  { colour, columns = Number.POSITIVE_INFINITY }: { colour: boolean; columns: number | undefined },
): string[] {
  const parts = readHighlights(html).map(({ text, isMatch }) => ({
    text: printable(text.replace(/\s+/g, " ")),
    isMatch,
  }));
  const whole = parts.map(({ text }) => text).join("");
  const shown = cutText(whole, MAX_SHOWN, () => 1);
  const marks = parts.flatMap(({ text, isMatch }) => Array<boolean>(text.length).fill(isMatch));
  return lineBounds(shown, columns).map(([start, end]) => {
    let line = "";
    for (let at = start; at < end; ) {
      let next = at;
      while (next < end && marks[next] === marks[at]) next++;
      const run = shown.slice(at, next);
      line += marks[at] ? mark(run, colour) : run;
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

function mark(text: string, colour: boolean): string {
  if (!colour) return `*${text}*`;
  // Whether to colour was decided already, so styleText must not check the stream again.
  return styleText(["bold", "underline"], text, { validateStream: false });
}
