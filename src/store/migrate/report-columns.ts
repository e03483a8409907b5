import type { AnySql } from "../connection/connect.ts";
import type { Dictionary } from "./dictionary.ts";

/**
 * The columns of schema `report` that this program reads and the database does not have, as `relation.column`.
 * A later version may have dropped or renamed them.
 */
export async function findLackingColumns(sql: AnySql, dictionary: Dictionary): Promise<string[]> {
  const known = Object.entries(dictionary).flatMap(([relation, { columns }]) =>
    Object.keys(columns).map((column) => ({ relation, column })),
  );
  const lacking = await sql<{ name: string }[]>`
    select relation || '.' || "column" as name
    from jsonb_to_recordset(${JSON.stringify(known)}::text::jsonb) as known (relation text, "column" text)
    where not exists (
      select from pg_attribute join pg_class as class on class.oid = attrelid join pg_namespace as space on space.oid = relnamespace
      where nspname = 'report' and relname = relation and attname = "column" and attnum > 0 and not attisdropped
    )`;
  return lacking.map(({ name }) => name);
}
