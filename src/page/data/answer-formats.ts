import { toCsv } from "../../report/csv.ts";
import type { AnswerRow } from "../../report/read-answer.ts";

/** A text that is written row by row. */
export interface AnswerFormat {
  readonly type: string;
  begin(columns: readonly string[]): string;
  rows(rows: readonly AnswerRow[], columns: readonly string[], isFirst: boolean): string;
  end(isEmpty: boolean): string;
}

export type FormatName = "csv" | "json";

export const ANSWER_FORMATS: Readonly<Record<FormatName, AnswerFormat>> = {
  /** As `docmirror report NAME --format csv` prints it. */
  csv: {
    type: "text/csv; charset=utf-8; header=present",
    begin: (columns) => toCsv([columns]),
    rows: (rows) => toCsv(rows),
    end: () => "",
  },
  /** An array of objects by column, one on each line. An array that was cut off cannot be parsed. */
  json: {
    type: "application/json",
    begin: () => "[",
    rows(rows, columns, isFirst) {
      const objects = rows.map((row) =>
        JSON.stringify(Object.fromEntries(columns.map((column, place) => [column, row[place] ?? null]))),
      );
      return `${isFirst ? "" : ","}\n${objects.join(",\n")}`;
    },
    end: (isEmpty) => (isEmpty ? "]\n" : "\n]\n"),
  },
};
