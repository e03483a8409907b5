/** A relation of schema `report` in words. */
export interface RelationEntry {
  /** The question that the relation answers, and what one row is. */
  readonly answers: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** The relations of schema `report` by their names. */
export type Dictionary = Readonly<Record<string, RelationEntry>>;
