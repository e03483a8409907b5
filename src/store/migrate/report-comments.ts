import { type AnySql, runText } from "../connection/sql.ts";

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
  const missing = await sql<{ relation: string; column: string | null; comment: string; kind: string }[]>`
    select relation, "column", comment, case relkind when 'r' then 'TABLE' else 'VIEW' end as kind
    from jsonb_to_recordset(${JSON.stringify(wanted)}::text::jsonb) as wanted (relation text, "column" text, comment text)
    join pg_class as class on class.relnamespace = ${schema}::regnamespace and class.relname = wanted.relation
    left join pg_attribute as attribute on attribute.attrelid = class.oid and attribute.attname = wanted.column and not attisdropped
    where comment is distinct from
        case when wanted.column is null then obj_description(class.oid, 'pg_class') else col_description(class.oid, attnum) end
      and (wanted.column is null or attnum is not null)`;
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
