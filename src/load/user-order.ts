import type { TransactionSql } from "../db/connect.ts";
import type { FieldReference } from "../normalize/normalized.ts";
import type { ObservedRecord } from "./observed-record.ts";

/**
 * Puts the administrators of changed projects into the order in which they were first seen, new ones last. Upstream gives them in none:
 * they are a set, and another order is no change. Must run before the rows are compared and replaced.
 */
export async function keepUserOrder(
  tx: TransactionSql,
  changed: readonly ObservedRecord[],
): Promise<ObservedRecord[]> {
  if (changed.length === 0) return [];
  const ids = changed.map(({ record }) => record.id);
  const rows = await tx<{ id: string; uris: string[] }[]>`
    select project_id as id, array_agg(coalesce(user_uri, '') order by position) as uris
    from mirror.project_users where project_id = any (${ids}::text[]) group by project_id`;
  const stored = new Map(rows.map(({ id, uris }) => [id, uris]));
  return changed.map((sighting) => {
    const { record } = sighting;
    const references = inOrder(record.references, stored.get(record.id) ?? []);
    return { ...sighting, record: { ...record, references } };
  });
}

/** A URI that comes twice has two places. */
function inOrder(references: readonly FieldReference[], uris: readonly string[]): FieldReference[] {
  const left = [...references];
  const kept = uris.flatMap((uri) => {
    const at = left.findIndex((reference) => reference.uri === uri);
    return at < 0 ? [] : left.splice(at, 1);
  });
  return [...kept, ...left].map((reference, position) => ({ ...reference, position }));
}
