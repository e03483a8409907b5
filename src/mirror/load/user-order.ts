import type { TransactionSql } from "../../store/connection/sql.ts";
import type { FieldReference } from "../normalize/record.ts";
import type { ObservedRecord } from "./observed-record.ts";

/**
 * Sorts the administrators of changed projects by when they were first seen, new ones last. They are a set:
 * upstream sends them in any order, and another order is not a change. Call it before the rows are compared
 * and replaced.
 */
export async function keepUserOrder(tx: TransactionSql, changed: readonly ObservedRecord[]) {
  if (changed.length === 0) return [];
  const ids = changed.map(({ record }) => record.id);
  const rows = await tx<{ id: string; uris: string[] }[]>`
    select project_id as id, array_agg(coalesce(user_uri, '') order by position) as uris
    from mirror.project_users where project_id = any (${ids}::text[]) group by project_id`;
  const stored = new Map(rows.map(({ id, uris }) => [id, uris]));
  return changed.map((one) => {
    const { record } = one;
    const references = inOrder(record.references, stored.get(record.id) ?? []);
    return { ...one, record: { ...record, references } };
  });
}

/** A URI that comes twice keeps two places. */
function inOrder(references: readonly FieldReference[], uris: readonly string[]): FieldReference[] {
  const left = [...references];
  const kept = uris.flatMap((uri) => {
    const at = left.findIndex((reference) => reference.uri === uri);
    return at < 0 ? [] : left.splice(at, 1);
  });
  return [...kept, ...left].map((reference, position) => ({ ...reference, position }));
}
