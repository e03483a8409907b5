import type { Reference } from "../../resources/resource-uri.ts";
import type { Extra } from "../../store/schema/columns.ts";

/** A URI reference of a record, read but not yet looked up. */
export interface FieldReference {
  field: string;
  /** The place in a list of references; 0 for a single one. */
  position: number;
  uri: string;
  target: Reference;
}

/** Column values by column name, in the form that `load` writes: texts, booleans, and null. */
export type Columns = Record<string, string | boolean | null>;

/** One record as rows: its own columns, and its values in other tables. */
export interface NormalizedRecord {
  id: string;
  /** Records with equal content have equal hashes (`hashRecord`). */
  hash: string;
  columns: Columns;
  extra: Extra | null;
  references: FieldReference[];
  /** The id of the embedded project of a version or file. */
  projectId: string | null;
  /** The long texts of a build that go to `build_logs`. They are in `columns` too. */
  logs: Columns | null;
}

/** All that a normalizer knows in addition to the record. */
export interface NormalizeContext {
  baseUrl: URL;
  replacements: { nul: number };
  /**
   * Whether the newest loaded copy of this embedded project has this hash. Then it is not normalized again.
   */
  isAlreadyLoaded?: ((id: string, hash: string) => boolean) | undefined;
}

/**
 * Collects the embedded projects of one page. Many records of a page hold the same project, so equal copies
 * are hashed and normalized once. A copy that an earlier page has already brought is not normalized again.
 */
export interface EmbeddedProjects {
  /** The id of the embedded project, or null when `value` is not a project. */
  add(value: unknown): string | null;
  /** Every distinct new copy, in the order of arrival. */
  all(): NormalizedRecord[];
  /** The copies that equal the newest loaded ones. */
  repeated(): RepeatedProject[];
}

/** A copy of a project that equals the newest loaded one. It is normalized only if another one came meanwhile. */
export interface RepeatedProject {
  id: string;
  hash: string;
  normalize(): NormalizedRecord;
}

/** A record that cannot become a row. Its payload is kept for inspection. */
export interface RejectedRecord {
  recordId: string | null;
  reason: string;
  payload: unknown;
}
