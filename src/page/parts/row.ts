/** A row of a relation, as the driver returns it. */
export type Row = Readonly<Record<string, unknown>>;
