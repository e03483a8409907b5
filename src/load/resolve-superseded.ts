import type { Sql } from "../db/connect.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";
import { RECORD_TABLES } from "./tables.ts";

/** Whether the row of a record was written, or marked as deleted, after the bad one was seen. Looked up by key. */
const IS_WRITTEN_SINCE = RESOURCES.map(
  (resource) =>
    `when '${resource}' then exists (
       select from ${RECORD_TABLES[resource].name} where id = unresolved.record_id and ${isLater("changed_run_id", "changed_at")})`,
).join("\n");

/** Runs tell what came later. Rows and pages from before runs were kept with them have 0; their times tell. */
function isLater(runId: string, at: string): string {
  return `((${runId}, ${at}) > (unresolved.run_id, unresolved.created_at) or ${runId} = 0 and ${at} > unresolved.created_at)`;
}

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
