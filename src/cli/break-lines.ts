import { printable } from "../printable.ts";

/**
 * Foreign or own text as lines of at most so many columns, broken between words; its own newlines stay. It is made printable. A word that is
 * longer than a line stands alone.
 */
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
