import { stringify } from "csv-stringify/sync";
import type { AnswerCell } from "./read-answer.ts";

/** A spreadsheet takes a text that begins so for a formula, in full-width characters too. A number is none. */
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * Rows as CSV by RFC 4180: commas, CRLF, quotes where needed. Null is an empty field, an empty text a quoted one. A text that
 * a spreadsheet would compute gets an apostrophe in front, because names come from strangers; ids such as -1 and numbers stay
 * as they are. `isExact` adds no apostrophes, for files that programs read.
 */
export function toCsv(rows: readonly (readonly AnswerCell[])[], options: { isExact?: boolean } = {}): string {
  const records = options.isExact
    ? rows
    : rows.map((row) => row.map((cell) => (typeof cell === "string" ? defuse(cell) : cell)));
  return stringify([...records], {
    record_delimiter: "\r\n",
    quoted_match: /^$|[\r\n]/,
    cast: { boolean: String },
  });
}

function defuse(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}
