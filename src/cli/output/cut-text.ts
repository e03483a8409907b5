import stringWidth from "string-width";

const SEGMENTER = new Intl.Segmenter();

/** Cuts a text to `most` columns, between characters as a reader sees them. `measure` may count something else. */
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
  for (const { segment } of SEGMENTER.segment(text)) {
    width += measure(segment);
    if (width > most) return `${kept.slice(0, fits).join("")}…`;
    kept.push(segment);
    if (width < most) fits = kept.length;
  }
  return text;
}

function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}
