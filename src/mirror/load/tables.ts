import { getTableColumns, getTableName } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { getTableConfig } from "drizzle-orm/pg-core";
import { REFERENCE_FIELDS, RESOURCES, type Resource } from "../../resources/resources.ts";
import { unresolvedReferences } from "../../store/schema/changes.ts";
import {
  buildLogs,
  builds,
  files,
  projects,
  projectUsers,
  users,
  versions,
} from "../../store/schema/index.ts";

export type CellType =
  | "text"
  | "boolean"
  | "timestamp"
  | "timestamptz"
  | "jsonb"
  | "bytea"
  | "integer"
  | "bigint";

export interface ColumnSpec {
  name: string;
  type: CellType;
}

/**
 * A table as the loader writes it. It comes from the drizzle description, so that no column is listed twice.
 */
export interface TableSpec {
  /** Schema-qualified and quoted. */
  name: string;
  columns: ColumnSpec[];
}

function specOf(table: PgTable): TableSpec {
  const columns = Object.values(getTableColumns(table)).map((column) => ({
    name: column.name,
    type: cellType(column.getSQLType()),
  }));
  return { name: `"${getTableConfig(table).schema}"."${getTableName(table)}"`, columns };
}

function cellType(sqlType: string): CellType {
  if (sqlType.startsWith("text")) return "text";
  if (sqlType.endsWith("with time zone")) return "timestamptz";
  if (sqlType.startsWith("timestamp")) return "timestamp";
  if (sqlType === "boolean" || sqlType === "jsonb" || sqlType === "bytea") return sqlType;
  if (sqlType === "integer" || sqlType === "bigint") return sqlType;
  throw new Error(`no way to load a column of type ${sqlType}`);
}

export const RECORD_TABLES: Record<Resource, TableSpec> = {
  user: specOf(users),
  project: specOf(projects),
  version: specOf(versions),
  file: specOf(files),
  build: specOf(builds),
};
/**
 * The columns for the keys of records that a record names by URI. A key follows from its URI: when the named
 * record arrives, the key is set, but the record does not change.
 */
export const URI_KEYS = Object.fromEntries(
  RESOURCES.map((resource) => {
    const fields = REFERENCE_FIELDS.filter((field) => field.resource === resource && field.kind === "uri");
    return [resource, fields.map(({ field }) => `${field}_id`)];
  }),
) as Record<Resource, string[]>;
export const BUILD_LOGS = specOf(buildLogs);
export const PROJECT_USERS = specOf(projectUsers);
export const UNRESOLVED_REFERENCES = specOf(unresolvedReferences);

/**
 * A row by column name: texts (times and hashes in hex among them), booleans, whole numbers, JSON values for
 * jsonb, or null.
 */
export type TableRow = Record<string, unknown>;
