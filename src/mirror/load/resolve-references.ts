import type { SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { REFERENCE_FIELDS, type Resource } from "../../resources/resources.ts";
import { compose, nameOf, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { projects, projectUsers, unresolvedReferences } from "../../store/schema/index.ts";
import { columnOf, RECORD_TABLES, recordsAs } from "./tables.ts";

const reference = alias(unresolvedReferences, "reference");

/**
 * Sets every key whose record is here now. For each field, one join sets the keys of all references whose
 * records have arrived, and removes them from the unresolved ones. Returns the number of resolved references. Safe to
 * repeat.
 */
export async function resolveReferences(sql: Sql): Promise<number> {
  // Many rows come and go at once. With old statistics the planner would pick a nested loop below.
  await sql`analyze mirror.unresolved_references`;
  let resolved = 0;
  for (const { resource, field, kind, target } of REFERENCE_FIELDS) {
    // Only the administrators of a project are a list of references.
    const fill = kind === "uris" ? FILL_USERS : fillKey(resource, `${field}_id`);
    const named = recordsAs(target, "target");
    const byId = await runStatement(
      sql,
      compose`
        with resolved as (
          delete from ${unresolvedReferences} as ${reference} using ${RECORD_TABLES[target].table} as ${named}
          where ${reference.resource} = ${resource} and ${reference.field} = ${field}
            and ${reference.target_resource} = ${target} and ${named.id} = ${reference.target_key}
          returning ${reference.record_id}, ${reference.position}, ${named.id}
        )
        ${fill}`,
    );
    resolved += byId.count;
    if (target === "project") resolved += (await runStatement(sql, bySlug(resource, field, fill))).count;
  }
  return resolved;
}

function fillKey(resource: Resource, key: string): SQL {
  const owner = recordsAs(resource, "owner");
  return compose`update ${RECORD_TABLES[resource].table} as ${owner} set ${nameOf(columnOf(owner, key))} = resolved.id
    from resolved where ${owner.id} = resolved.record_id`;
}

const FILL_USERS = compose`update ${projectUsers} set ${nameOf(projectUsers.user_id)} = resolved.id
  from resolved where ${projectUsers.project_id} = resolved.record_id and ${projectUsers.position} = resolved.position`;

/**
 * A key is read as a slug only when it is not a number: /project/42/ is id 42, even if another project has
 * the slug 42. When several projects have the slug, one that still exists is used.
 */
const bySlug = (resource: Resource, field: string, fill: SQL) => compose`
  with named as (
    select distinct on (${projects.slug}) ${projects.slug}, ${projects.id} from ${projects}
    where ${projects.slug} in (
      select ${unresolvedReferences.target_key} from ${unresolvedReferences}
      where ${unresolvedReferences.target_resource} = 'project')
    order by ${projects.slug}, ${projects.deleted_at} nulls first, ${projects.id}
  ), resolved as (
    delete from ${unresolvedReferences} as ${reference} using named
    where ${reference.resource} = ${resource} and ${reference.field} = ${field} and ${reference.target_resource} = 'project'
      and ${reference.target_key} !~ '^[0-9]+$' and named.slug = ${reference.target_key}
    returning ${reference.record_id}, ${reference.position}, named.id
  )
  ${fill}`;

export interface DanglingTarget {
  resource: Resource;
  key: string;
}

/** A gone record is requested again when it was checked before `goneBefore`, or after `now` by a wrong clock. */
export interface DueTargets {
  goneBefore: string;
  now: string;
}

const isDue = (sql: Sql, { goneBefore, now }: DueTargets) => sql`
  target_key is not null and (status = 'pending'
    or status = 'gone' and checked_at not between ${goneBefore}::timestamptz and ${now}::timestamptz)`;

/**
 * The referenced records that are not here and are due, at most `limit`. First those that were never
 * requested, then those that were requested longest ago. A request dated after `now` comes from a wrong clock
 * and does not count.
 */
export async function findDanglingTargets(sql: Sql, { limit, ...due }: DueTargets & { limit: number }) {
  return sql<DanglingTarget[]>`
    select target_resource as resource, target_key as key
    from mirror.unresolved_references where ${isDue(sql, due)}
    group by target_resource, target_key
    order by max(asked_at) filter (where asked_at <= ${due.now}::timestamptz) nulls first, target_resource, target_key
    limit ${limit}`;
}

/** The number of records that `findDanglingTargets` would return without a limit. */
export async function countDanglingTargets(sql: Sql, due: DueTargets): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(distinct (target_resource, target_key)) as count
    from mirror.unresolved_references where ${isDue(sql, due)}`;
  return row?.count ?? 0;
}

/** Stores that records were requested, with any result, so that they come after those that were not. */
export async function recordTargetsAsked(sql: Sql, targets: readonly DanglingTarget[], at: string) {
  await sql`
    update mirror.unresolved_references as reference set asked_at = ${at}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(targets)}::text::jsonb) as asked (resource text, key text)
    where reference.target_resource = asked.resource and reference.target_key = asked.key`;
}

/** Marks new references as gone when another one to the same record was found gone at or after `since`. */
export async function spreadGone(sql: Sql, since: string): Promise<void> {
  await sql`
    update mirror.unresolved_references as reference set status = 'gone', checked_at = known.checked_at
    from (
      select target_resource, target_key, max(checked_at) as checked_at
      from mirror.unresolved_references
      where status = 'gone' and checked_at >= ${since}::timestamptz
      group by target_resource, target_key
    ) as known
    where reference.status = 'pending' and reference.target_resource = known.target_resource
      and reference.target_key = known.target_key`;
}

/** Stores that upstream has no such record, for every reference to it. */
export async function markGone(sql: Sql, target: DanglingTarget, checkedAt: string): Promise<void> {
  await sql`
    update mirror.unresolved_references set status = 'gone', checked_at = ${checkedAt}::timestamptz
    where target_resource = ${target.resource} and target_key = ${target.key}`;
}

export async function countUnresolved(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) as count from mirror.unresolved_references`;
  return row?.count ?? 0;
}
