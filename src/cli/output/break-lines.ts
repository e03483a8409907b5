import { printable } from "../../base/text.ts";

/** Breaks a printable text between words into lines of at most `columns` characters. A longer word has its own line. */
export function breakLines(text: string, columns: number): string[] {
  return printable(text, { keepNewlines: true })
    .split("\n")
    .flatMap((line) => wrap(line, columns));
}

function wrap(line: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of line.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}
