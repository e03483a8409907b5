/**
 * The words of a text as the index and the searches see them: lower case, without marks and signs, one blank
 * between two. So `os.path.join()` is three words on every server, whatever its locale. Scripts that are
 * written without blanks between words are split into characters.
 */
export function foldWords(text: string): string {
  return text.normalize("NFC").toLowerCase().replace(UNSPACED, " $& ").replace(SEPARATORS, " ").trim();
}

/** A title or a query in the form in which they are compared for being equal. */
export function titleKey(title: string): string {
  return foldWords(title).slice(0, MAX_TITLE_KEY_LENGTH).toWellFormed();
}

/** Each word of a folded text once, in order. */
export function wordsOf(folded: string): string[] {
  return [...new Set(folded.split(" "))].filter((word) => word !== "");
}

/** Whether a folded word is a character of a script without blanks. It matches anywhere in a text. */
export function isUnspaced(word: string): boolean {
  return word.replace(UNSPACED, "") === "";
}

const MAX_TITLE_KEY_LENGTH = 200;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const SEPARATORS = /[^\p{L}\p{M}\p{N}]+/gu;
