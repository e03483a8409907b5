// C0 and C1 controls, marks that turn the direction of text, line separators, and what has no width at all.
const UNPRINTABLE = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * Makes foreign text safe for a terminal: names and error pages are whatever users typed, escapes that clear the screen
 * or turn text round among them. C0 controls show as their picture (␛), the rest as U+FFFD.
 */
export function printable(text: string, options: { keepNewlines?: boolean } = {}): string {
  return text.toWellFormed().replace(UNPRINTABLE, (character) => {
    if (character === "\n" && options.keepNewlines) return character;
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** The same for a text that is JSON, which stays the same JSON: what a terminal must not see is escaped. Newlines are kept. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (character) =>
    character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const ESCAPE = "\u001b";
const COLOURS = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);

/** The same for text that is coloured: the colours stay. */
export function printableColoured(text: string): string {
  return text
    .split(COLOURS)
    .map((part, place) => (place % 2 === 0 ? printableJson(part) : part))
    .join("");
}
