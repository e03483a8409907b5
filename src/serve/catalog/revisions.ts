import { REFERENCE_FIELDS, type Resource } from "../../resources/resources.ts";
import type { AnySql } from "../../store/connection/sql.ts";

/** The resources that a list is read from: its own, those embedded in it, and those that its filters can reach. */
function partsOf(resource: Resource): Resource[] {
  const targets = REFERENCE_FIELDS.filter((field) => field.resource === resource);
  return [...new Set([resource, ...targets.flatMap(({ target }) => partsOf(target))])];
}

export interface ListRevision {
  /** Equal revisions of a list mean equal lists. */
  revision: string;
  /** When the list last changed, by the clock of the database. Null while the mirror is empty. */
  changedAt: Date | null;
  /** How long ago that was by the same clock, in milliseconds; negative where it was put back since. */
  ageMs: number;
}

/** The revision of a list, from the rows that triggers keep (`sync.revisions`). */
export async function readRevision(sql: AnySql, resource: Resource): Promise<ListRevision> {
  // The times too: a database that was restored, or a standby that took over, may count to the same number again.
  const [found] = await sql<{ revision: string | null; changed_ms: number | null; age_ms: number | null }[]>`
    select string_agg(concat_ws(' ', resource, revision, changed_at), ', ' order by resource) as revision,
      (extract(epoch from max(changed_at)) * 1000)::float8 as changed_ms,
      (extract(epoch from clock_timestamp() - max(changed_at)) * 1000)::float8 as age_ms
    from sync.revisions where resource = any (${partsOf(resource)}::text[])`;
  const changedMs = found?.changed_ms ?? null;
  return {
    revision: found?.revision ?? "0",
    changedAt: changedMs === null ? null : new Date(changedMs),
    ageMs: found?.age_ms ?? 0,
  };
}
