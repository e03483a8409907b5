import { stringify } from "csv-stringify/sync";
import type { AnswerCell } from "./read-answer.ts";

/** What a spreadsheet takes for a formula, in wide characters too. A number is none, though it may begin with a minus. */
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * Rows as CSV by RFC 4180: commas, CRLF, quotes where needed. Null is an empty field, an empty text a quoted one. A text that a spreadsheet
 * would compute gets an apostrophe in front of it: names are whatever strangers typed. Ids such as -1 and numbers stay as they are.
 */
export function toCsv(rows: readonly (readonly AnswerCell[])[]): string {
  return stringify(
    rows.map((row) => row.map((cell) => (typeof cell === "string" ? defuse(cell) : cell))),
    { record_delimiter: "\r\n", quoted_match: /^$|[\r\n]/, cast: { boolean: String } },
  );
}

function defuse(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}
