import { ExactNumber } from "../resources/parse-json.ts";

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

/** A whole number, grouped by thousands. Without Intl, whose first use takes 20 ms. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A count with its noun: `1 project`, `1,200 projects`. @default plural: the noun with an s */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** Bytes as people read them, by powers of ten: `280.1 MB`, `70.5 GB`. */
export function sized(bytes: number): string {
  const isLarge = bytes >= 1e9;
  return isLarge ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A moment as people read it, without fractions of its second; empty for null. */
export const toSecond = (moment: string | null): string =>
  (moment ?? "")
    .replace(/\.\d+/, "")
    .replace("T", " ")
    .replace(/\+00(:00)?$/, "Z");

/** The whole of a count, as a sentence begins: `All 1,200 projects`, `The only project`. */
export const allOf = (count: number, noun: string): string =>
  count === 1 ? `The only ${noun}` : `All ${counted(count, noun)}`;

/**
 * Writes a parsed value as JSON, cut to `maxLength` characters. Unlike JSON.stringify it does not recurse, so
 * deep nesting is safe, and it stops soon after `maxLength`, so a huge value costs little memory. A number that JSON
 * does not have is written as `parseJson` reads it.
 */
export function jsonText(value: unknown, maxLength: number): string {
  const open: { members: Iterator<[string | number, unknown]>; end: "]" | "}"; isFirst: boolean }[] = [];
  const pieces: string[] = [];
  let length = 0;
  const write = (piece: string) => {
    pieces.push(piece);
    length += piece.length;
  };
  const begin = (one: unknown) => {
    if (one instanceof ExactNumber) write(one.text);
    else if (Array.isArray(one)) {
      write("[");
      open.push({ members: one.entries(), end: "]", isFirst: true });
    } else if (typeof one === "object" && one !== null) {
      write("{");
      open.push({ members: Object.entries(one).values(), end: "}", isFirst: true });
    } else {
      const isForeign = typeof one === "number" && !Number.isFinite(one);
      write(isForeign ? String(one) : (JSON.stringify(one) ?? "null"));
    }
  };

  begin(value);
  for (let inner = open.at(-1); inner && length < maxLength; inner = open.at(-1)) {
    const next = inner.members.next();
    if (next.done) {
      write(inner.end);
      open.pop();
      continue;
    }
    const [key, member] = next.value;
    if (!inner.isFirst) write(",");
    inner.isFirst = false;
    if (inner.end === "}") write(`${JSON.stringify(key)}:`);
    begin(member);
  }
  return pieces.join("").slice(0, maxLength);
}
