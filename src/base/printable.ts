// C0 and C1 controls, marks that change the direction of text, line separators, characters without width.
const UNPRINTABLE = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;

/**
 * Makes foreign text safe for a terminal. Names and error pages may hold anything, such as escapes that clear
 * the screen or reverse text. C0 controls show as their picture (␛), other unsafe characters as U+FFFD.
 */
export function printable(text: string, options: { keepNewlines?: boolean } = {}): string {
  return text.toWellFormed().replace(UNPRINTABLE, (character) => {
    if (character === "\n" && options.keepNewlines) return character;
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/** Does the same for JSON, by escapes that do not change its meaning. Newlines are kept. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (character) =>
    character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const ESCAPE = "\u001b";
const COLOURS = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);

/** Does the same for coloured text and keeps its colours. */
export function printableColoured(text: string): string {
  const parts = text.split(COLOURS);
  return parts.map((part, place) => (place % 2 === 0 ? printableJson(part) : part)).join("");
}
