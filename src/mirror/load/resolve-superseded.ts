import type { SQL } from "drizzle-orm";
import { type AnyPgColumn, alias } from "drizzle-orm/pg-core";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import { compose, nameOf, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { pages, quarantine } from "../../store/schema/index.ts";
import { RECORD_TABLES } from "./tables.ts";

const page = alias(pages, "page");
const bad = alias(quarantine, "bad");
/** The quarantined records that are looked at, by the names that they have in the statement. */
const unresolved = alias(quarantine, "unresolved");

/** Whether the row of a record was written, or marked as deleted, after its bad copy was seen. */
const IS_WRITTEN_SINCE = compose.join(
  RESOURCES.map((resource) => {
    const { table } = RECORD_TABLES[resource];
    return compose`
      when ${resource} then exists (
        select from ${table}
        where ${table.id} = ${unresolved.record_id} and ${isLater(table.changed_run_id, table.changed_at)})`;
  }),
);

/** By the run. Rows and pages of versions that did not store it have 0: then the time decides. */
function isLater(runId: AnyPgColumn, at: AnyPgColumn): SQL {
  return compose`((${runId}, ${at}) > (${unresolved.run_id}, ${unresolved.created_at})
    or ${runId} = 0 and ${at} > ${unresolved.created_at})`;
}

/**
 * Resolves quarantined records that came in good form later: their row was written after the bad copy was
 * seen, or a later page without a bad record lists them. An older row proves nothing, because the bad copy
 * was meant to replace it. Returns the number of resolved ones. Cheap when the quarantine is empty. Safe to
 * repeat.
 */
export async function resolveSuperseded(sql: Sql, at: string, resource: Resource | null = null) {
  const result = await runStatement(
    sql,
    compose`
      with ${unresolved} as materialized (
        select ${bad.id}, ${bad.run_id}, ${bad.resource}, ${bad.record_id}, ${bad.created_at}
        from ${quarantine} as ${bad}
        where ${bad.resolved_at} is null and ${bad.record_id} is not null
          and ${bad.resource} = coalesce(${resource}, ${bad.resource})
      ), listed as materialized (
        select distinct ${unresolved.id}
        from ${unresolved}
        join (
          select ${page.resource}, ${page.run_id}, ${page.loaded_at}, listed.id
          from ${pages} as ${page} cross join unnest(${page.ids}) as listed (id)
          where ${page.body_hash} <> '' and exists (select from ${unresolved})
            and listed.id in (select ${unresolved.record_id} from ${unresolved})
        ) as ${page} on ${page.resource} = ${unresolved.resource} and ${page}.id = ${unresolved.record_id}
          and ${isLater(page.run_id, page.loaded_at)}
      )
      update ${quarantine} as ${bad} set ${nameOf(bad.resolved_at)} = ${at}::timestamptz
      from ${unresolved}
      where ${bad.id} = ${unresolved.id} and (
        ${unresolved.id} in (select id from listed) or case ${unresolved.resource} ${IS_WRITTEN_SINCE} end)`,
  );
  return result.count;
}
