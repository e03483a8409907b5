import type { Extra } from "../db/schema/columns.ts";
import type { Reference } from "../wire/resource-uri.ts";
import type { Columns } from "./record.ts";

/** A URI reference of a record, read but not yet looked up. */
export interface FieldReference {
  field: "project" | "version" | "users";
  /** The place in a list of references; 0 for a single one. */
  position: number;
  uri: string;
  target: Reference;
}

/** One record as rows: its own columns, and what other tables hold of it. */
export interface NormalizedRecord {
  id: string;
  /** Equal for records that were sent with equal content (`hashRecord`). */
  hash: string;
  columns: Columns;
  extra: Extra | null;
  references: FieldReference[];
  /** Of a version or file: the id of its embedded project. */
  projectId: string | null;
  /** Of a build: the four texts of `build_logs`, which stand among `columns` too. */
  logs: Columns | null;
}

/** What every normalizer may look at: nothing but the record and where the service stands. */
export interface NormalizeContext {
  baseUrl: URL;
  replacements: { nul: number };
  /** Whether the newest copy of this embedded project that was handed on has this hash: then it need not be made again. */
  isHandedOn?: ((id: string, hash: string) => boolean) | undefined;
}

/** A record that cannot become a row. Its payload is kept for inspection. */
export interface RejectedRecord {
  recordId: string | null;
  reason: string;
  payload: unknown;
}
