import { foldWords } from "./fold-words.ts";

const MAX_LENGTH = 200;

/** A title or a query in the form in which they are compared for being equal. */
export function titleKey(title: string): string {
  return foldWords(title).slice(0, MAX_LENGTH).toWellFormed();
}
