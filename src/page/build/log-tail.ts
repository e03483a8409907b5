import { type AnySql, statement } from "../../store/connection/sql.ts";

export interface LogLine {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** The texts of a log, in the order in which a build writes them. */
export const LOG_PARTS = [
  { column: "setup", title: "Setup" },
  { column: "setup_error", title: "Errors of the setup" },
  { column: "output", title: "Output" },
  { column: "error", title: "Errors" },
] as const;

export type LogPart = (typeof LOG_PARTS)[number];

/** Lines of a text that a page shows: the last ones, which say how it ended. */
const MOST_LINES = 2000;
/** Characters of a text that are read for them. */
const MOST_CHARACTERS = 250_000;

/** The end of one text of a log. */
export interface LogTail {
  readonly part: LogPart;
  /** Lines of the whole text. */
  readonly total: number;
  /** The last of them, numbered as in the whole text. */
  readonly lines: readonly LogLine[];
}

const LOG_TAILS = statement<{ name: string; total: number; tail: string; is_whole: boolean }>(
  "log_tails",
  import.meta.url,
);

/**
 * The ends of the texts of a build's log that are not empty, in their order. Postgres counts the lines, so a text of
 * any length costs no memory here. No tails where the mirror has no log.
 */
export async function readLogTails(sql: AnySql, buildId: string): Promise<LogTail[]> {
  const rows = await LOG_TAILS(sql, { id: buildId, most: MOST_CHARACTERS });
  return LOG_PARTS.flatMap((part) => {
    const row = rows.find(({ name }) => name === part.column);
    return row === undefined ? [] : [tailOf(part, row.total, row.tail, row.is_whole)];
  });
}

function tailOf(part: LogPart, total: number, tail: string, isWhole: boolean): LogTail {
  const texts = tail.split(/[\n\r]/);
  const lines = texts.map((text, place) => ({ number: total - texts.length + place + 1, text }));
  // The first line of a part that was cut is not whole, unless it is all there is.
  if (!isWhole && lines.length > 1) lines.shift();
  // A text ends in a line break, after which nothing comes.
  const isEnded = lines.length > 1 && lines.at(-1)?.text === "";
  if (isEnded) lines.pop();
  return {
    part,
    total: isEnded ? total - 1 : total,
    lines: lines.slice(-MOST_LINES).map(({ number, text }) => ({ number, text: cleanLine(text) })),
  };
}

/** The place of the error line of a build. */
export interface ErrorPlace {
  readonly part: LogPart;
  /** The line that says what went wrong, from 1; and the next one, where that has the message. */
  readonly lines: readonly number[];
  readonly excerpt: string;
}

const ERROR_PLACE = statement<{
  body: string | null;
  line_number: number;
  message_line_number: number | null;
  excerpt: string;
}>("place_of_error", import.meta.url);

/** Finds the error line of a build; null where its log has none. */
export async function findErrorPlace(sql: AnySql, buildId: string): Promise<ErrorPlace | null> {
  const [row] = await ERROR_PLACE(sql, { id: buildId });
  const part = LOG_PARTS.find(({ column }) => column === row?.body);
  if (row === undefined || part === undefined) return null;
  const lines = [row.line_number, row.message_line_number].filter((line) => line !== null);
  return { part, lines, excerpt: row.excerpt };
}

/** ESC [ … of colours and cursors, ESC ] … of titles and links, and the escapes of one character. */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
  /[\u001b]\[[0-?]*[ -/]*[@-~]|\u009b[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]/g;
/** Controls, which draw nothing in a line; the tab is none of them. */
const CONTROLS = /(?!\t)\p{Cc}/gu;
const TAB = "    ";

/** A line of a log as it was meant: without colours, cursor moves and control characters, tabs as four spaces. */
export function cleanLine(line: string): string {
  return line.replace(ESCAPES, "").replace(CONTROLS, "").replaceAll("\t", TAB);
}
