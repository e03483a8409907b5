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

/** A statement over schema `report`, as `ask.ts` writes it. A block that shows its rows needs no more than this. */
export interface Question {
  /** Statement text with `$1`, `$2` and so on, and the values for them. */
  readonly text: string;
  readonly params: readonly unknown[];
  /** The relation whose rows are the question's files. */
  readonly relation: string;
  /** The filters that this relation accepts. */
  readonly narrowedBy: readonly FilterName[];
  /** The columns that it asks for, in their order. */
  readonly columns: readonly string[];
  /** The same statement with its values written in, for people to copy. */
  readonly readable: string;
}
