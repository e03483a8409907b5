/** A part of a snippet, as text. */
export interface SnippetPart {
  text: string;
  /** Whether the service marked it as a word that was searched for. */
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
    parts.push({ text: decode(snippet.slice(end, found.index)), isMatch: false });
    parts.push({ text: decode(found[1] ?? found[2] ?? ""), isMatch: true });
    end = found.index + found[0].length;
  }
  parts.push({ text: decode(snippet.slice(end)), isMatch: false });
  return parts.filter(({ text }) => text !== "");
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  hellip: "…",
  ndash: "–",
  mdash: "—",
  para: "¶",
};

/** Decodes numeric entities and the common named ones once. An unknown name stays as text. */
function decode(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{1,8}));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? entity) : entity;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : "\ufffd";
  });
}
