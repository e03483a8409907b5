/** So that `os.path.join()` is three words on every server. Scripts without blanks between words are split into characters. */
export function foldWords(text: string): string {
  return text.normalize("NFC").toLowerCase().replace(UNSPACED, " $& ").replace(SEPARATORS, " ").trim();
}

/** A title or a query in the form in which they are compared for being equal. */
export function titleKey(title: string): string {
  return foldWords(title).slice(0, MAX_TITLE_KEY_LENGTH).toWellFormed();
}

/** Whether a folded word is a character of a script without blanks. It matches anywhere in a text. */
function isUnspaced(word: string): boolean {
  return word.replace(UNSPACED, "") === "";
}

const MAX_TITLE_KEY_LENGTH = 200;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const SEPARATORS = /[^\p{L}\p{M}\p{N}]+/gu;

/** A search as the index understands it. */
export type SearchQuery = { folded: string; words: string[] };

/** A longer search finds nothing, so that nobody can make the database work for long. */
export const MAX_QUERY_LENGTH = 1000;
/** Postgres' limit of a word in an index. */
const MAX_WORD_BYTES = 2046;

/** Null for a search that can find nothing: without a word, too long, or with a word that no index has. */
export function parseQuery(q: string): SearchQuery | null {
  if (q.length > MAX_QUERY_LENGTH) return null;
  const words = [...new Set(foldWords(q.toWellFormed()).split(" "))].filter((word) => word !== "");
  if (words.length === 0 || words.some((word) => Buffer.byteLength(word) > MAX_WORD_BYTES)) return null;
  return { folded: words.join(" "), words };
}

type Mark = { open: string; close: string };

/** As the file search and the doc search mark words (`docs/interface.md`, "Searches"). */
export const HIGHLIGHTED: Mark = { open: '<span class="highlighted">', close: "</span>" };
export const EM: Mark = { open: "<em>", close: "</em>" };

const LENGTH = 100;
const BEFORE = 40;

/** About 100 characters from before the first match, else from the start, as escaped HTML. `words` are folded (`foldWords`). */
export function snippet(text: string, words: readonly string[], mark: Mark): string {
  const matches = findMatches(text, words);
  const first = matches[0]?.start ?? 0;
  const blank = first <= BEFORE ? 0 : text.indexOf(" ", first - BEFORE) + 1;
  const start = first <= BEFORE || (blank > 0 && blank <= first) ? blank : first;
  const end = cutBefore(text, Math.min(text.length, start + LENGTH));
  let html = start > 0 ? "..." : "";
  let at = start;
  for (const match of matches) {
    if (match.end > end) break;
    html += `${escapeHtml(text.slice(at, match.start))}${mark.open}${escapeHtml(text.slice(match.start, match.end))}${mark.close}`;
    at = match.end;
  }
  return `${html}${escapeHtml(text.slice(at, end))}${end < text.length ? "..." : ""}`;
}

export function hasMatch(text: string, words: readonly string[]): boolean {
  return findMatches(text, words).length > 0;
}

/** The matches within the length of one snippet from the first one on. */
function findMatches(text: string, words: readonly string[]): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  if (words.length === 0) return found;
  for (const match of text.matchAll(patternOf(words))) {
    if (found[0] !== undefined && match.index > found[0].start + LENGTH) break;
    found.push({ start: match.index, end: match.index + match[0].length });
  }
  return found;
}

function patternOf(words: readonly string[]): RegExp {
  const part = "[\\p{L}\\p{M}\\p{N}]";
  // A folded word holds letters, marks and digits alone, so none of it has a meaning in a pattern.
  const whole = words.filter((word) => !isUnspaced(word));
  const single = words.filter(isUnspaced);
  const choices = [
    ...(whole.length > 0 ? [`(?<!${part})(?:${whole.join("|")})(?!${part})`] : []),
    ...(single.length > 0 ? [`(?:${single.join("|")})`] : []),
  ];
  return new RegExp(choices.join("|"), "giu");
}

/** The place itself, or the one before it where it would part the two halves of a character. */
function cutBefore(text: string, place: number): number {
  return /[\uD800-\uDBFF]/.test(text.charAt(place - 1)) && place < text.length ? place - 1 : place;
}

const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);
}
