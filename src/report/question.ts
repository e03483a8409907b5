import type { WrittenStatement } from "../store/connection/run-statement.ts";

/**
 * The filters of a relation. Slugs and types are compared as they are, `since` and `until` as
 * `readTimeBounds` says.
 */
export interface AnswerFilters {
  readonly project?: string | undefined;
  readonly version?: string | undefined;
  readonly type?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  /** Rows at most. @default all */
  readonly limit?: number | undefined;
}

export type FilterName = keyof AnswerFilters;

/** A statement over schema `report`, as `ask.ts` writes it: text with `$1`, `$2` and so on, and the values for them. */
export interface Question extends WrittenStatement {
  /** The relation that it is about. */
  readonly relation: string;
  /** The columns that it asks for, in their order; none where its text is its own. */
  readonly columns: readonly string[];
  /** The same without what only a page adds: every row, as the files have it. */
  readonly whole: WrittenStatement;
  /** The whole statement with its values written in, for people to copy. */
  readonly readable: string;
}
