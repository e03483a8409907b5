/**
 * All that is printed goes through this folder: tables, progress, errors, and what fits the width of a terminal. Results
 * go to stdout, all else to stderr. It knows no command.
 */

import { styleText } from "node:util";
import { ConfigError, toOutputError, UnprintedError } from "../../base/errors.ts";
import { printable, printableJson } from "../../base/text.ts";

/** Stdout, for data. */
export interface Output {
  readonly isTty: boolean;
  readonly colour: boolean;
  /** The terminal's width, 80 where it reports none; undefined where there is no terminal. */
  readonly columns: number | undefined;
  /** Something was written: only what failed before that may be tried again. */
  readonly hasWritten: boolean;
  /** Resolves when the text was accepted. Await it: a slow reader then slows the command, and fills no memory. */
  write(text: string): Promise<void>;
  /** Writes one JSON document, with control characters escaped. */
  json(value: unknown): Promise<void>;
}

/** A terminal that does not know its size is 0 columns wide. */
const DEFAULT_COLUMNS = 80;

/** Longer lines are tiring to read. */
const MOST_TEXT_COLUMNS = 100;

/** The width of running text. */
export function textColumns({ columns = DEFAULT_COLUMNS }: Output): number {
  return Math.min(columns, MOST_TEXT_COLUMNS);
}

interface OutputDeps {
  stream: NodeJS.WriteStream;
  colour: boolean;
  /** Called once when the reader has closed the pipe (EPIPE), as `head` does. Further writes are dropped. */
  onClosed: () => void;
}

export function createOutput({ stream, colour, onClosed }: OutputDeps): Output {
  let isClosed = false;
  let hasWritten = false;

  function closed(): void {
    if (isClosed) return;
    isClosed = true;
    onClosed();
  }

  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") closed();
  });

  function write(text: string): Promise<void> {
    if (isClosed) return Promise.resolve();
    hasWritten = true;
    return new Promise((resolve, reject) => {
      stream.write(text, (error: NodeJS.ErrnoException | null | undefined) => {
        if (!error) return resolve();
        if (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED") {
          closed();
          return resolve();
        }
        reject(toOutputError(error, "stdout"));
      });
    });
  }

  return {
    isTty: stream.isTTY === true,
    colour,
    columns: stream.isTTY ? stream.columns || DEFAULT_COLUMNS : undefined,
    get hasWritten() {
      return hasWritten;
    },
    write,
    json: (value) => write(`${printableJson(JSON.stringify(value, null, 2))}\n`),
  };
}

/** Prints about work that is done. Throws UnprintedError where stdout takes nothing. */
export async function whenStored(printing: Promise<void>): Promise<void> {
  await printing.catch((cause: unknown) => {
    if (!(cause instanceof ConfigError)) throw cause;
    throw new UnprintedError(`all was done and stored, but ${cause.message}`, { cause, hint: cause.hint });
  });
}

/** A text for people: in colours or without, and in so many columns. @default columns: any number */
export interface Look {
  readonly colour: boolean;
  readonly columns?: number | undefined;
}

/** A printable text in a style of a terminal, where there are colours. */
export function styled(
  format: Parameters<typeof styleText>[0],
  text: string,
  { colour }: Pick<Look, "colour">,
): string {
  // The choice of colour was made already, so styleText must not check the stream again.
  return colour ? styleText(format, text, { validateStream: false }) : text;
}

/** A text as lines that fit the terminal, each with its end. */
export function paragraph(
  text: string,
  { columns = Number.POSITIVE_INFINITY }: Pick<Look, "columns">,
): string {
  return breakLines(text, columns)
    .map((line) => `${line}\n`)
    .join("");
}

/** Breaks a printable text between words into lines of at most `columns` characters. A longer word has its own line. */
export function breakLines(text: string, columns: number): string[] {
  return printable(text, { keepNewlines: true })
    .split("\n")
    .flatMap((line) => wrap(line, columns));
}

function wrap(line: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of line.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}
