import type { Sql } from "../db/connect.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";

/** When the row of a record was written last, or marked as deleted. Looked up by key, once for each record in quarantine. */
const WRITTEN_AT = RESOURCES.map(
  (resource) =>
    `when '${resource}' then (select greatest(changed_at, deleted_at) from mirror.${resource}s where id = unresolved.record_id)`,
).join("\n");

/**
 * Closes what is in quarantine of records that came well since: the row was written after the bad one was seen, or a page that was
 * loaded after it, and held nothing bad, lists the record. That its row is there from before proves nothing: the bad
 * content was to replace it. Returns how many were closed. Cheap where nothing is in quarantine; safe to repeat.
 */
export async function resolveSuperseded(
  sql: Sql,
  at: string,
  resource: Resource | null = null,
): Promise<number> {
  const result = await sql.unsafe(
    `with unresolved as materialized (
       select id, resource, record_id, created_at from sync.quarantine
       where resolved_at is null and record_id is not null and resource = coalesce($2, resource)
     ), listed as materialized (
       select page.resource, listed.id, max(page.loaded_at) as at
       from sync.pages as page cross join unnest(page.ids) as listed (id)
       where page.body_hash <> '' and page.loaded_at > (select min(created_at) from unresolved)
         and listed.id in (select record_id from unresolved)
       group by page.resource, listed.id
     )
     update sync.quarantine as bad set resolved_at = $1::timestamptz
     from unresolved left join listed on listed.resource = unresolved.resource and listed.id = unresolved.record_id
     where bad.id = unresolved.id
       and greatest(listed.at, case unresolved.resource ${WRITTEN_AT} end) > unresolved.created_at`,
    [at, resource],
  );
  return result.count;
}
