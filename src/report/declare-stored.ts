import { getTableColumns, getTableName } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";

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
  /** How the rows that changes affect are found. Null: the answer has no parts. */
  parts: Parts | null;
}

/** A part is small, and is computed by itself: so it costs what it has, and not what the table has. */
export interface Parts {
  /** Queries the parts. */
  query: string;
  /** The columns that the rows of a part have in common with it. */
  scope: readonly string[];
  /** The rows of `part`, from the source or from a function. */
  rows: string;
  /** Which rows of the scope belong to `part`; `row` is the alias of a row. @default all */
  isWithin?: (row: string) => string;
}

const STAMPS = ["updated_at", "renamed_at"];

export function stored(
  table: PgTable,
  parts: Omit<Parts, "rows"> | Parts | null = null,
  order?: readonly string[],
): StoredAnswer {
  const { primaryKeys, schema } = getTableConfig(table);
  const columns = Object.values(getTableColumns(table));
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary);
  const names = columns.map((column) => column.name);
  const name = getTableName(table);
  const source = `rollup.${name}_source`;
  const rows = `select * from ${source} as source where ${same(parts?.scope ?? [], "source", "part")}`;
  return {
    drizzle: table,
    table: `${schema}.${name}`,
    source,
    columns: names.filter((column) => !STAMPS.includes(column)),
    stamps: names.filter((column) => STAMPS.includes(column)),
    key: key.map((column) => column.name),
    order: order ?? key.map((column) => column.name),
    parts: parts && { rows, ...parts },
  };
}

/** Parts that changed builds affect, by their old facts and their new ones: see `changed-builds.ts`. */
export function affected(...scope: string[]): Omit<Parts, "rows"> {
  const isKnown = scope.map((column) => `${column} is not null`).join(" and ");
  return { query: `select distinct ${scope.join(", ")} from affected where ${isKnown}`, scope };
}

/** Records that changed themselves. */
export function touched(resource: string): Omit<Parts, "rows"> {
  const id = `${resource}_id`;
  return { query: `select id as ${id} from touched where resource = '${resource}'`, scope: [id] };
}

/** What a series is. */
export const KEY_OF_SERIES = ["project_id", "version_id", "type", "reference"];

export function list(columns: readonly string[], of?: string): string {
  return columns.map((column) => (of ? `${of}.${column}` : column)).join(", ");
}

/** That two rows agree in these columns. */
export function same(columns: readonly string[], one: string, other: string): string {
  return columns.map((column) => `${one}.${column} = ${other}.${column}`).join(" and ");
}
