import { type AnySql, runText, statement } from "../connection/sql.ts";

const WRONG_COMMENTS = statement<{ relation: string; column: string | null; comment: string; kind: string }>(
  "wrong_comments",
  import.meta.url,
);

/** A relation of schema `report` in words. */
export interface RelationEntry {
  /** The question that the relation answers, and what one row is. */
  readonly answers: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** The relations of schema `report` by their names. */
export type Dictionary = Readonly<Record<string, RelationEntry>>;

/**
 * Writes the sentences of the dictionary as comments on the relations and columns of schema `report`, where they differ: a view
 * that was dropped and re-created has none. Needs the rights of the owner. Safe to repeat.
 */
export async function applyReportComments(sql: AnySql, dictionary: Dictionary, schema = "report") {
  const wanted = Object.entries(dictionary).flatMap(([relation, { answers, columns }]) => [
    { relation, column: null, comment: answers },
    ...Object.entries(columns).map(([column, comment]) => ({ relation, column, comment })),
  ]);
  const missing = await WRONG_COMMENTS(sql, { wanted: JSON.stringify(wanted), schema });
  if (missing.length === 0) return;
  const statements = missing.map(({ relation, column, kind, comment }) => {
    const text = `'${comment.replaceAll("'", "''")}'`;
    return column === null
      ? `comment on ${kind} ${schema}.${relation} is ${text}`
      : `comment on column ${schema}.${relation}."${column}" is ${text}`;
  });
  // Several statements in one text, which is the sentences of the dictionary.
  await runText(sql, statements.join(";\n"));
}
