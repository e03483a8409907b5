import { getTableColumns, getTableName } from "drizzle-orm";
import { type AnyPgColumn, alias, type PgTable } from "drizzle-orm/pg-core";
import { REFERENCE_FIELDS, RESOURCES, type Resource } from "../../resources/resources.ts";
import { type AnySql, statement } from "../../store/connection/sql.ts";
import type { bookkeeping } from "../../store/schema/columns.ts";
import * as schema from "../../store/schema/index.ts";

const TYPES = ["text", "boolean", "timestamp", "timestamptz", "jsonb", "bytea", "integer", "bigint"] as const;

export type CellType = (typeof TYPES)[number];

export type ColumnSpec = { name: string; type: CellType };

/** A table as the loader writes it. It comes from the drizzle description, so that no column is listed twice. */
export type TableSpec = { table: PgTable; columns: ColumnSpec[] };

/** A table of a resource. Its columns are those that all of them have. */
export type RecordTable = PgTable & Record<"id" | keyof ReturnType<typeof bookkeeping>, AnyPgColumn>;

export function specOf<Table extends PgTable>(table: Table): TableSpec & { table: Table } {
  const columns = Object.values(getTableColumns(table)).map((column) => ({
    name: column.name,
    type: cellType(column.getSQLType()),
  }));
  return { table, columns };
}

function cellType(sqlType: string): CellType {
  if (sqlType.startsWith("text")) return "text";
  if (sqlType.endsWith("with time zone")) return "timestamptz";
  if (sqlType.startsWith("timestamp")) return "timestamp";
  const type = TYPES.find((one) => one === sqlType);
  if (type === undefined) throw new Error(`no way to load a column of type ${sqlType}`);
  return type;
}

/** A resource without a table of its name does not compile. */
const TABLES: { [R in Resource as `${R}s`]: RecordTable } = schema;

export const RECORD_TABLES = Object.fromEntries(
  RESOURCES.map((resource) => [resource, specOf(TABLES[`${resource}s`])]),
) as Readonly<Record<Resource, TableSpec & { table: RecordTable }>>;

/** The table of a resource under the name that it has in one statement. */
export const recordsAs = (resource: Resource, name: string): RecordTable =>
  alias(RECORD_TABLES[resource].table, name) as unknown as RecordTable;

/** Holds for the records that a list should show: a project that was only seen embedded may be hidden there. */
const listedCondition = (resource: Resource): string =>
  resource === "project" ? "(deleted_at is null and listed)" : "deleted_at is null";

/**
 * The statement of a file (`statement`) for the records of each resource. There `mirror.RECORDS` is its table, `:resource` its name,
 * and `IS_LISTED` is `listedCondition`.
 */
export function recordStatement<Row extends object>(name: string, url: string) {
  const byResource = new Map(
    RESOURCES.map((resource) => {
      const table = getTableName(RECORD_TABLES[resource].table);
      const words = { RECORDS: table, IS_LISTED: listedCondition(resource) };
      return [resource, statement<Row>(name, url, { isPlannedEachTime: true, words })];
    }),
  );
  return (sql: AnySql, resource: Resource, values: Readonly<Record<string, unknown>> = {}) => {
    const run = byResource.get(resource);
    if (run === undefined) throw new Error(`no statement ${name} for ${resource}`);
    return run(sql, { resource, ...values });
  };
}

/** A column by its name, for names from a list of fields. Throws for one that the table does not have. */
export function columnOf(table: PgTable, name: string): AnyPgColumn {
  const column = getTableColumns(table)[name];
  if (column === undefined) throw new Error(`no column ${name}`);
  return column;
}

/** The keys of records that a record names by URI. Such a key is set when the named record comes: that is no change. */
export const URI_KEYS = Object.fromEntries(
  RESOURCES.map((resource) => {
    const fields = REFERENCE_FIELDS.filter((field) => field.resource === resource && field.kind === "uri");
    return [resource, fields.map(({ field }) => `${field}_id`)];
  }),
) as Record<Resource, string[]>;
export const BUILD_LOGS = specOf(schema.buildLogs);
export const PROJECT_USERS = specOf(schema.projectUsers);
export const UNRESOLVED_REFERENCES = specOf(schema.unresolvedReferences);

/** A row by column name: text (also times, and hashes in hex), boolean, whole number, JSON, or null. */
export type TableRow = Record<string, unknown>;
