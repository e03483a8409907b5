import { RESOURCES, type Resource } from "../../resources/resources.ts";
import type { Sql } from "../../store/connection/connect.ts";
import { RECORD_TABLES } from "./tables.ts";

/**
 * Whether the row of a record was written, or marked as deleted, after its bad copy was seen. Uses the key of
 * the table.
 */
const IS_WRITTEN_SINCE = RESOURCES.map(
  (resource) =>
    `when '${resource}' then exists (
       select from ${RECORD_TABLES[resource].name} where id = unresolved.record_id and ${isLater("changed_run_id", "changed_at")})`,
).join("\n");

/**
 * The run says which one came later. Rows and pages from versions that did not store the run have 0; then the
 * time decides.
 */
function isLater(runId: string, at: string): string {
  return `((${runId}, ${at}) > (unresolved.run_id, unresolved.created_at) or ${runId} = 0 and ${at} > unresolved.created_at)`;
}

/**
 * Resolves quarantined records that came in good form later: their row was written after the bad copy was
 * seen, or a later page without a bad record lists them. An older row proves nothing, because the bad copy
 * was meant to replace it. Returns the number of resolved ones. Cheap when the quarantine is empty. Safe to
 * repeat.
 */
export async function resolveSuperseded(
  sql: Sql,
  at: string,
  resource: Resource | null = null,
): Promise<number> {
  const result = await sql.unsafe(
    `with unresolved as materialized (
       select id, run_id, resource, record_id, created_at from sync.quarantine
       where resolved_at is null and record_id is not null and resource = coalesce($2, resource)
     ), listed as materialized (
       select distinct unresolved.id
       from unresolved
       join (
         select page.resource, page.run_id, page.loaded_at, listed.id
         from sync.pages as page cross join unnest(page.ids) as listed (id)
         where page.body_hash <> '' and exists (select from unresolved) and listed.id in (select record_id from unresolved)
       ) as page on page.resource = unresolved.resource and page.id = unresolved.record_id
         and ${isLater("page.run_id", "page.loaded_at")}
     )
     update sync.quarantine as bad set resolved_at = $1::timestamptz
     from unresolved
     where bad.id = unresolved.id
       and (unresolved.id in (select id from listed) or case unresolved.resource ${IS_WRITTEN_SINCE} end)`,
    [at, resource],
  );
  return result.count;
}
