/** The months of an export: their files, and those of the last export that can be kept because their month has the same revision. */
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type SQL, sql } from "drizzle-orm";
import { isJsonObject } from "../../resources/parse-json.ts";
import { copyOut } from "../../store/connection/copy.ts";
import { abortable, runText, type TransactionSql } from "../../store/connection/sql.ts";
import { type AnswerFilters, askFor, relation } from "../ask.ts";
import { type ColumnOf, columnsOf, type Relation } from "../dictionary.ts";
import type { AnswerCell, AnswerRow } from "../read-answer.ts";
import type { TypedColumn } from "./parquet.ts";
import { createPartFiles, isWhole, PART, type PartFile, type Target } from "./part-files.ts";
import { isCount, MARKER, parseObject } from "./staging-folder.ts";

/** The version of the layout and the names of the files. */
export const LAYOUT = 3;

/** All on which the rows of a file depend besides the facts. A file of another form is not kept. */
export interface ExportForm {
  /** `LAYOUT` of the docmirror that made it. */
  layout: number;
  format: string;
  since: string | null;
  until: string | null;
  /** The version of docmirror. */
  version: string;
  /** A hash of the view that the facts are read from. */
  definition: string;
}

/** The files of the facts of an export. */
interface KeptFiles {
  folder: string;
  /** The file of a path, where it is still as the manifest says. */
  find(path: string): Promise<PartFile | null>;
}

const DIFFERENT: Record<keyof ExportForm, string> = {
  layout: "its files have another layout",
  format: "it has another format",
  since: "it has another --since",
  until: "it has another --until",
  version: "another version of docmirror made it",
  definition: "the columns of fact_builds have changed",
};

/** Reads the manifest of the export in `folder`. What cannot be trusted gives a reason, never an error. */
export async function readLastExport(
  folder: string,
  form: ExportForm,
): Promise<KeptFiles | { reason: string }> {
  const text = await readFile(join(folder, MARKER), "utf8").catch(() => null);
  if (text === null) return { reason: "there is none" };
  const manifest = parseManifest(text);
  if (manifest === null) return { reason: `its ${MARKER} is not one of this version` };
  const names = Object.keys(DIFFERENT) as (keyof ExportForm)[];
  const different = names.find((name) => manifest.form[name] !== form[name]);
  if (different !== undefined) return { reason: DIFFERENT[different] };
  const files = new Map(manifest.files.map((file) => [file.path, file]));
  return {
    folder,
    async find(path) {
      const file = files.get(path);
      return file && (await isWhole(join(folder, path), file.bytes)) ? file : null;
    },
  };
}

/** Anybody may have edited the text. Null where it is no such manifest. */
function parseManifest(text: string): { form: ExportForm; files: PartFile[] } | null {
  const manifest = parseObject(text);
  const { layout, format, since, until, version, definition } = manifest;
  if (!Number.isSafeInteger(layout) || ![format, version, definition].every(isText)) return null;
  if (![since, until].every((bound) => bound === null || isText(bound))) return null;
  const facts = isJsonObject(manifest.relations) ? manifest.relations.fact_builds : undefined;
  const files = isJsonObject(facts) && Array.isArray(facts.files) ? facts.files.map(parseFile) : [null];
  if (!files.every((file) => file !== null)) return null;
  return { form: { layout, format, since, until, version, definition } as ExportForm, files };
}

function parseFile(file: unknown): PartFile | null {
  if (!isJsonObject(file)) return null;
  const { path, rows, bytes, revision } = file;
  const isFile = [path, revision].every(isText) && [rows, bytes].every(isCount);
  return isFile ? ({ path, rows, bytes, revision } as PartFile) : null;
}

const isText = (value: unknown): boolean => typeof value === "string";

/** The relation of the months of the facts. */
export const MONTHS = "fact_months" satisfies Relation;

/** The revision of each month, newest first, as the builds come; null is the month of those without a date. */
type Revisions = ReadonlyMap<string | null, string>;

export const MONTHS_COLUMNS: TypedColumn[] = ["month", "revision"].map((name) => ({ name, type: "text" }));

/** The values of `MONTHS_COLUMNS`. An export of some days has other facts than the revision stands for, so it names none. */
export function monthsRows(revisions: Revisions, isWhole: boolean): AnswerCell[][] {
  return [...revisions].map(([month, revision]) => [nameOfMonth(month), isWhole ? revision : null]);
}

/** The name of a month's folder. Hive's own for null is an error to some readers, and a text like any other to more. */
const nameOfMonth = (month: string | null): string => month ?? "undated";

export async function findRevisions(tx: TransactionSql): Promise<Revisions> {
  const { text, params } = askFor(MONTHS);
  const rows = await runText<{ month: string | null; revision: string }>(tx, text, params);
  return new Map(rows.map(({ month, revision }) => [month, revision]));
}

export interface ExportedRelation {
  rows: number;
  /** Without the column of the partition, which is only in the name of a folder. */
  columns: TypedColumn[];
  /** The files that are those of the last export. */
  kept: number;
  files: PartFile[];
}

/** Writes a folder of one file with the rows of `batches`, also where there are none. */
export async function writeTable(
  target: Target,
  name: string,
  columns: TypedColumn[],
  batches: Iterable<AnswerRow[]> | AsyncIterable<AnswerRow[]>,
): Promise<ExportedRelation> {
  const parts = createPartFiles(target, columns);
  try {
    await parts.open(`${name}/${PART}`);
    for await (const rows of batches) await parts.write(rows);
    const files = await parts.end();
    return { rows: rowsOf(files), columns, kept: 0, files };
  } finally {
    await parts.close();
  }
}

const rowsOf = (files: readonly PartFile[]): number => files.reduce((sum, { rows }) => sum + rows, 0);

export const FACT = "fact_builds" satisfies Relation;
const fact = relation(FACT);
const PARTITION = "triggered_month";
/** These change with a dimension. Files have them there alone, so that they stay. */
const LEFT_OUT: readonly ColumnOf<typeof FACT>[] = [
  "project_slug",
  "project_name",
  "version_slug",
  "version_name",
  "is_main",
  "updated_at",
];
export const FACT_COLUMNS = columnsOf(FACT).filter((column) => !LEFT_OUT.includes(column));

/**
 * Writes the builds, a folder for each month, with those of `FACT_COLUMNS` that `columns` has and files that end in `ending`.
 * Keeps the files of unchanged months of the export `last`; where it is null, every month is written.
 */
export async function writeMonths(options: {
  tx: TransactionSql;
  target: Target;
  columns: readonly TypedColumn[];
  revisions: Revisions;
  filters: AnswerFilters;
  last: KeptFiles | null;
  ending: string;
  signal: AbortSignal;
}): Promise<ExportedRelation> {
  const { tx, target, revisions, filters, last, ending, signal } = options;
  const stored = options.columns.filter(({ name }) => name !== PARTITION);
  const renamed = (name: string) => (name === "fact_updated_at" ? "updated_at" : name);
  const columns = stored.map(({ name, type }) => ({ name: renamed(name), type }));
  const parts = createPartFiles(target, columns);
  let kept = 0;

  async function write(month: string | null): Promise<void> {
    const { readable } = askFor(FACT, filters, within(month), undefined, FACT_COLUMNS);
    // DuckDB reads a boolean and a moment as `copy` writes them too; a CSV that stays has them as all our CSV.
    const list = stored.map((column) => (target.parquet === null ? asCsv(column) : column.name)).join(", ");
    // `copy` takes no values beside its text, and keeps the order of its query.
    const copy = `copy (select ${list} from (${readable.slice(0, -2)}) as build) to stdout (format csv)`;
    const writeRows = async (rows: readonly Buffer[]) => {
      await parts.open(nameOf(month), revisions.get(month));
      await parts.writeCopied(rows);
    };
    await copyOut(tx, copy, writeRows, signal);
  }

  try {
    await mkdir(join(target.folder, FACT));
    for (const month of last === null ? await findMonths(tx, signal) : revisions.keys()) {
      signal.throwIfAborted();
      const file = await last?.find(`${nameOf(month)}.${ending}`);
      if (last && file && file.revision === revisions.get(month)) {
        await parts.keep(file, last.folder);
        kept++;
      } else await write(month);
    }
    const files = await parts.end();
    return { rows: rowsOf(files), columns, kept, files };
  } finally {
    await parts.close();
  }
}

/** From the facts themselves, newest first: a full export does not count on what the triggers noted. */
async function findMonths(tx: TransactionSql, signal: AbortSignal): Promise<(string | null)[]> {
  const found = tx<{ month: string | null }[]>`
    select distinct triggered_month as month from report.fact_builds order by month desc nulls last`;
  return (await abortable(found, signal)).map(({ month }) => month);
}

const nameOf = (month: string | null): string => `${FACT}/${PARTITION}=${nameOfMonth(month)}/${PART}`;

/** The text of a column as `toCsv` writes its values, for a session in UTC. */
function asCsv({ name, type }: TypedColumn): string {
  if (type === "boolean") return `${name}::text`;
  return type.startsWith("timestamp")
    ? `regexp_replace(${name}::text, '^(\\S+) (\\S+)\\+00$', '\\1T\\2Z')`
    : name;
}

/** By the day, which has an index. */
function within(month: string | null): SQL[] {
  if (month === null) return [sql`${fact.triggered_on} is null`];
  const first = sql`${`${month}-01`}::date`;
  return [
    sql`${fact.triggered_on} >= ${first}`,
    sql`${fact.triggered_on} < (${first} + interval '1 month')::date`,
  ];
}
