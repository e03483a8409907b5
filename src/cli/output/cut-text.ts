import stringWidth from "string-width";

const SEGMENTER = new Intl.Segmenter();
/** Code units, with all marks. The segmenter reads all that it is given first, and a log has megabytes. */
const LONGEST_CHARACTER = 32;

/**
 * Cuts a text to `most` columns, between characters as a reader sees them. `measure` may count something else. A text that
 * was cut keeps nothing of the long one in memory.
 */
export function cutText(
  text: string,
  most: number,
  measure: (character: string) => number = stringWidth,
): string {
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
