import { foldWords, wordsOf } from "./fold-words.ts";

/** A search as the index understands it. */
export interface SearchQuery {
  /** The words with one blank between two. */
  folded: string;
  words: string[];
}

/** A longer search finds nothing, so that nobody can make the database work for long. */
export const MAX_QUERY_LENGTH = 1000;
/** Postgres' limit of a word in an index. */
const MAX_WORD_BYTES = 2046;

/** Null for a search that can find nothing: without a word, too long, or with a word that no index has. */
export function parseQuery(q: string): SearchQuery | null {
  if (q.length > MAX_QUERY_LENGTH) return null;
  const folded = foldWords(q.toWellFormed());
  const words = wordsOf(folded);
  if (words.length === 0 || words.some((word) => Buffer.byteLength(word) > MAX_WORD_BYTES)) return null;
  return { folded: words.join(" "), words };
}
