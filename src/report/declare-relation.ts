import { getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import type { Resource } from "../resources/resources.ts";
import { readSqlFile } from "../store/connection/sql.ts";
import type { TimeGrain } from "./time-bounds.ts";

type Order<C extends string> =
  | C
  | `${C}${"" | " is not null"}${"" | " desc"}${"" | " nulls first" | " nulls last"}`;

/** A relation of schema `report` in words, beside the SQL of its view: all that is known of it but its rows. */
export interface DeclaredRelation<C extends string = string> {
  /** The question that it answers, and what one row is. */
  readonly answers: string;
  /** A sentence for each column, in the view's order. */
  readonly columns: Readonly<Record<C, string>>;
  /** No two rows have the same values there. */
  readonly key: readonly NoInfer<C>[];
  /** The columns of the key in which null is one of the values. */
  readonly nullable?: readonly NoInfer<C>[];
  /**
   * The column that `since` and `until` are compared with, and its UTC day where that has an index. Without one, each row
   * counts builds of all times.
   */
  readonly time?: { readonly column: NoInfer<C>; readonly span: TimeGrain; readonly day?: NoInfer<C> };
  /** Newest first for events, worst first for problems. Ends in a key, so that pages do not overlap. */
  readonly order: readonly NoInfer<Order<C>>[];
  /**
   * The columns that answer its question, for a terminal 80 columns wide. On a narrower one the last of them
   * are left out. A new column of the relation is not shown until it is added here.
   */
  readonly answer: readonly NoInfer<C>[];
  /** Where it is stored, what no other relation reads. */
  readonly stored?: StoredAnswer;
  /** It reads an expensive answer, so it may be older than the other relations. @default where it is stored without parts */
  readonly isExpensive?: boolean;
  /** The resource of the service that it is as fresh as. */
  readonly resource?: Resource;
  /** False where it explains or serves other relations, and nobody draws it. */
  readonly isDrawn?: boolean;
}

/** A relation as the file of its topic has it, without what follows from its names. */
interface Declaration<C extends string> extends Omit<DeclaredRelation<C>, "time" | "order"> {
  /** The column of `time`, and its day. A row stands for a `day` or an `hour` where that is its name, else for a moment. */
  readonly time?: NoInfer<C>;
  readonly day?: NoInfer<C>;
  /** @default the key */
  readonly order?: readonly NoInfer<Order<C>>[];
}

/** The name of a relation is that of its file. One that may be older than the others says where its time stands. */
export function declareRelation<C extends string>(declaration: Declaration<C>): DeclaredRelation<C> {
  const { time: column, day, order = declaration.key, ...declared } = declaration;
  const isExpensive = declared.isExpensive ?? declared.stored?.parts === null;
  const asOf =
    isExpensive && !(EXPENSIVE_TIME in declared.columns) ? ` As of freshness.${EXPENSIVE_TIME}.` : "";
  const answers = declared.answers + asOf;
  if (column === undefined) return { ...declared, order, isExpensive, answers };
  const grain = (["day", "hour"] as const).find((name) => name === column);
  return {
    ...declared,
    order,
    isExpensive,
    answers,
    time: { column, span: grain ?? "moment", ...(day && { day }) },
  };
}

/** The column that has the time of what is expensive. */
export const EXPENSIVE_TIME = "expensive_refreshed_at";

/** A table whose content comes from the view of the same name with `_source` after it. */
export interface StoredAnswer {
  drizzle: PgTable;
  /** Schema-qualified. */
  table: string;
  source: string;
  columns: readonly string[];
  /** The moments of changes, which the merge writes: `updated_at`, and `renamed_at` where it has names. */
  stamps: readonly string[];
  key: readonly string[];
  /**
   * In which all rows are added: that of an index, or of time. Neighbours share pages, so few pages are in use at
   * once, and few hold the rows of a day.
   */
  order: readonly string[];
  /** Finds the rows that changes affect. Null: the answer has no parts. */
  parts: Parts | null;
}

/** A part is computed by itself, by the source of all: so it costs what it has, and not what the table has. */
export interface Parts {
  /** Queries the parts. */
  query: string;
  /** The columns that the rows of a part have in common with it. */
  scope: readonly string[];
  /** Queries the rows of `part`. @default those of the source that have its scope */
  rows?: string;
  /** Which rows of the scope belong to `part`; `row` is the alias of a row. @default all */
  isWithin?: (row: string) => string;
}

const STAMPS = ["updated_at", "renamed_at"];

export function stored(table: PgTable, parts: Parts | null = null, order?: readonly string[]): StoredAnswer {
  const { primaryKeys, schema } = getTableConfig(table);
  const columns = Object.values(getTableColumns(table));
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  const names = columns.map((column) => column.name);
  const name = getTableName(table);
  return {
    drizzle: table,
    table: `${schema}.${name}`,
    source: `rollup.${name}_source`,
    columns: names.filter((column) => !STAMPS.includes(column)),
    stamps: names.filter((column) => STAMPS.includes(column)),
    key: key.map((column) => column.name),
    order: order ?? key.map((column) => column.name),
    parts,
  };
}

/** Parts that changed builds affect, by their old facts and their new ones (`compute-answers.ts`). */
export function affected(...scope: string[]): Parts {
  const isKnown = scope.map((column) => `${column} is not null`).join(" and ");
  return { query: `select distinct ${scope.join(", ")} from affected where ${isKnown}`, scope };
}

/** Those that a statement of the folder `sql` finds. */
export function partsOf(name: string, scope: readonly string[]): Parts {
  return { query: readSqlFile(new URL(`sql/${name}.sql`, import.meta.url)), scope };
}

/** Records that changed themselves. */
export function touched(resource: string): Parts {
  const id = `${resource}_id`;
  return { query: `select id as ${id} from touched where resource = '${resource}'`, scope: [id] };
}

/** The columns that name a series. */
export const KEY_OF_SERIES = ["project_id", "version_id", "type", "reference"];

export function list(columns: readonly string[], of?: string): string {
  return columns.map((column) => (of ? `${of}.${column}` : column)).join(", ");
}

/** That two rows agree in these columns. */
export function same(columns: readonly string[], one: string, other: string): string {
  return columns.map((column) => `${one}.${column} = ${other}.${column}`).join(" and ");
}
