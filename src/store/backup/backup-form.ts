/**
 * A backup is one file: gzip around a line that names the form, then frames, each a letter, a length of four bytes and
 * its content.
 *
 *   H  the header: version, moment, migrations, the tables with their columns, the last numbers that were given
 *   D  rows of the first table as COPY writes them as text, cut anywhere; as many frames as it takes
 *   E  the end of that table, with the number of its rows; D and E again for each table of the header
 *   Z  the end, with the SHA-256 of all before it
 *
 * A reader holds one frame at a time. COPY's text is the same in all versions of Postgres, and rows go to columns by
 * name. The form has no paths, and a name of a table is only compared with those that the schema has.
 */
import { ConfigError } from "../../base/errors.ts";

export const MAGIC = Buffer.from("docmirror backup 1\n");
export const HEAD_BYTES = 5;
/** The longest content of a frame, by its letter. */
export const LIMITS = { H: 1 << 20, D: 1 << 20, E: 1024, Z: 1024 } as const;
export type FrameKind = keyof typeof LIMITS;

export interface BackedUpTable {
  /** With its schema. */
  name: string;
  columns: string[];
}

/** The last number that the identity column of a table gave. */
export interface GivenNumber {
  table: string;
  column: string;
  last: number;
}

export interface BackupHeader {
  /** The version of docmirror that wrote it. */
  version: string;
  /** The moment that it shows, in UTC. */
  taken_at: string;
  /** The migrations that its mirror had, in order. */
  migrations: { tag: string; hash: string }[];
  /** Each after those that it refers to. */
  tables: BackedUpTable[];
  numbers: GivenNumber[];
}

export function frame(kind: FrameKind, content: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.write(kind, "latin1");
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

export const jsonFrame = (kind: FrameKind, value: unknown): Buffer =>
  frame(kind, Buffer.from(JSON.stringify(value)));

/** Rows end with a newline, and COPY writes one within a value as `\n`. */
export function countRows(bytes: Buffer): number {
  let rows = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) rows++;
  return rows;
}

export function unusable(file: string, why: string, cause?: unknown): ConfigError {
  return new ConfigError(`${file} cannot be restored: ${why}`, {
    cause,
    hint: "nothing was changed; use another backup",
  });
}

/** Throws ConfigError unless it is a header as `write-backup.ts` writes it. Names are only known to be texts. */
export function parseHeader(file: string, content: Buffer): BackupHeader {
  const header = parseJson(file, content);
  const { version, taken_at, migrations, tables, numbers } = header as Partial<BackupHeader>;
  const isHeader =
    isText(version) &&
    isText(taken_at) &&
    !Number.isNaN(Date.parse(taken_at)) &&
    isListOf(migrations, ({ tag, hash }) => isText(tag) && isText(hash)) &&
    isListOf(tables, ({ name, columns }) => isText(name) && isTexts(columns)) &&
    isListOf(
      numbers,
      ({ table, column, last }) => isText(table) && isText(column) && Number.isSafeInteger(last),
    );
  if (!isHeader) throw unusable(file, "its header is not that of a backup");
  return header as unknown as BackupHeader;
}

export function parseJson(file: string, content: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(content.toString("utf8"));
    if (isObject(value)) return value;
  } catch {
    // It is no JSON, as below.
  }
  throw unusable(file, "it is damaged");
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isText);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isListOf = (value: unknown, isOne: (one: Record<string, unknown>) => boolean): boolean =>
  Array.isArray(value) && value.every((one) => isObject(one) && isOne(one));
