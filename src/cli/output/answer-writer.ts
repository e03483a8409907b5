import { type Command, Option } from "commander";
import { ConfigError } from "../../base/errors.ts";
import { printable, printableJson } from "../../base/text.ts";
import { toCsv } from "../../report/csv.ts";
import type { AnswerCell, AnswerRow } from "../../report/read-answer.ts";
import type { Output } from "./output.ts";
import { cutCell, renderTable } from "./table.ts";

/** A table is held in memory until its widths are known. */
export const MOST_TABLE_ROWS = 1000;

export const FORMATS = ["table", "csv", "json", "md"] as const;
export type Format = (typeof FORMATS)[number];

interface FormatOptions {
  format?: Format;
  json?: true;
  bom?: true;
}

export function addFormatOptions(command: Command): Command {
  return command
    .addOption(new Option("--format <format>", "the output format [default: table]").choices(FORMATS))
    .addOption(new Option("--json", "short for --format json").conflicts("format"))
    .option("--bom", "with --format csv: a byte order mark in front, by which Excel reads UTF-8");
}

export function readFormat({ format = "table", json, bom }: FormatOptions): Format {
  const chosen = json ? "json" : format;
  if (bom && chosen !== "csv") throw new ConfigError("--bom is for --format csv");
  return chosen;
}

interface AnswerFacts {
  columns: readonly string[];
  /** Those that a table on a terminal shows. @default all, at any width */
  answer?: readonly string[] | undefined;
  /** The fields before the rows in a JSON document. */
  facts: Readonly<Record<string, unknown>>;
  /** CSV begins with a byte order mark. @default false */
  hasBom?: boolean | undefined;
}

type AnswerOutput = Omit<Output, "hasWritten">;

/**
 * Prints rows as they come, `most` at most, below their head, which an answer without rows has too. Only a table is held until its
 * end, because its widths depend on all rows. Gives how many were printed, and whether there are more.
 */
export async function printAnswer(
  batches: AsyncIterable<readonly AnswerRow[]> | Iterable<readonly AnswerRow[]>,
  { format, most = Number.POSITIVE_INFINITY, ...answer }: AnswerFacts & { format: Format; most?: number },
  out: AnswerOutput,
): Promise<{ printed: number; hasMore: boolean }> {
  const { head, body, end } = PARTS[format](answer, out);
  let isBegun = false;
  // Not before there are rows: a query that fails prints nothing.
  const begin = async () => {
    if (!isBegun) await head?.();
    isBegun = true;
  };
  let printed = 0;
  let hasMore = false;
  for await (const rows of batches) {
    const wanted = rows.slice(0, most - printed);
    await begin();
    await body(wanted);
    printed += wanted.length;
    hasMore = wanted.length < rows.length;
    if (hasMore) break;
  }
  await begin();
  await end?.();
  return { printed, hasMore };
}

interface AnswerParts {
  head?(): Promise<void>;
  body(rows: readonly AnswerRow[]): Promise<void>;
  end?(): Promise<void>;
}

const PARTS: Record<Format, (answer: AnswerFacts, out: AnswerOutput) => AnswerParts> = {
  table: tableParts,
  csv: csvParts,
  json: jsonParts,
  md: markdownParts,
};

/** A terminal gets the columns that answer the question, within its width; a file or a pipe gets all of them. */
function tableParts({ columns, answer }: AnswerFacts, out: AnswerOutput): AnswerParts {
  const held: AnswerRow[] = [];
  const head = out.isTty && answer !== undefined ? answer : columns;
  // All columns by their places: a name may stand twice.
  const places = head.map((column, place) => (head === columns ? place : columns.indexOf(column)));
  return {
    async body(rows) {
      for (const row of rows) held.push(places.map((place) => cutCell(forPeople(row[place] ?? null))));
    },
    end() {
      const look = head === answer ? out : { colour: out.colour };
      return out.write(renderTable({ head, rows: held, mayDrop: true }, look));
    },
  };
}

/** A file or a pipe gets the exact bytes. A terminal gets printable text, one line for each row. */
function csvParts({ columns, hasBom = false }: AnswerFacts, out: AnswerOutput): AnswerParts {
  const write = (rows: readonly (readonly AnswerCell[])[]) => {
    if (!out.isTty) return out.write(toCsv(rows));
    const safe = rows.map((row) => row.map((cell) => (typeof cell === "string" ? printable(cell) : cell)));
    return out.write(toCsv(safe).replaceAll("\r\n", "\n"));
  };
  return {
    async head() {
      if (hasBom && !out.isTty) await out.write("\ufeff");
      await write([columns]);
    },
    body: write,
  };
}

/** An object whose `rows` are objects by column, one on each line. A document that was cut off cannot be parsed. */
function jsonParts({ columns, facts }: AnswerFacts, out: AnswerOutput): AnswerParts {
  let isFirst = true;
  return {
    head() {
      const lines = Object.entries({ ...facts, columns }).map(
        ([name, value]) => `${quote(name)}: ${quote(value)},\n`,
      );
      return out.write(`{\n  ${lines.join("  ")}  "rows": [`);
    },
    body(rows) {
      const lines = rows.map((row) => {
        const comma = isFirst ? "" : ",";
        isFirst = false;
        return `${comma}\n    ${quote(Object.fromEntries(columns.map((column, index) => [column, row[index]])))}`;
      });
      return out.write(lines.join(""));
    },
    end: () => out.write(isFirst ? "]\n}\n" : "\n  ]\n}\n"),
  };
}

const quote = (value: unknown): string => printableJson(JSON.stringify(value));

function markdownParts({ columns }: AnswerFacts, out: AnswerOutput): AnswerParts {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
  return {
    head: () => out.write(line(columns.map(escapeMarkdown)) + line(columns.map(() => "---"))),
    body: (rows) => out.write(rows.map((row) => line(row.map(escapeMarkdown))).join("")),
  };
}

/** Each may begin or end markup. Between two letters or digits an underscore does neither, as in `project_slug`. */
const MARKUP = /[\\|`*<>[\]&~$]|_(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])_/gu;

/** Names come from strangers, so none may end its cell or become markup. */
function escapeMarkdown(cell: AnswerCell): string {
  return printable(String(forPeople(cell) ?? "")).replace(MARKUP, "\\$&");
}

/** Rounds for readers: four decimals, one decimal from 100 on, and whole seconds. JSON and CSV keep all digits. */
function forPeople(cell: AnswerCell): AnswerCell {
  if (typeof cell === "string") return cell.replace(MOMENT, "$1Z");
  if (typeof cell !== "number" || Number.isInteger(cell)) return cell;
  if (Math.abs(cell) < 0.001) return Number(cell.toPrecision(3));
  return Number(cell.toFixed(Math.abs(cell) < 100 ? 4 : 1));
}

const MOMENT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d{1,6}Z$/;
