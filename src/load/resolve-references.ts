import type { Sql } from "../db/connect.ts";

/**
 * The fields that refer, and the key each fills. One join brings all references of a field whose records have arrived to their keys, and
 * takes them off the list of unresolved ones.
 */
const FIELDS = [
  { resource: "project", field: "users", table: "project_users", key: "user_id", target: "user" },
  { resource: "version", field: "project", table: "versions", key: "project_id", target: "project" },
  { resource: "file", field: "project", table: "files", key: "project_id", target: "project" },
  { resource: "build", field: "project", table: "builds", key: "project_id", target: "project" },
  { resource: "build", field: "version", table: "builds", key: "version_id", target: "version" },
] as const;

/** Sets every key whose record is here by now. Returns how many references that resolved. Safe to repeat. */
export async function resolveReferences(sql: Sql): Promise<number> {
  // Rows come and go in bulk; with the statistics of yesterday the joins below would go row by row.
  await sql`analyze mirror.unresolved_references`;
  let resolved = 0;
  for (const { resource, field, table, key, target } of FIELDS) {
    const [owner, place] =
      table === "project_users"
        ? ["owner.project_id", "and owner.position = resolved.position"]
        : ["owner.id", ""];
    const fill = `update mirror.${table} as owner set ${key} = resolved.id
       from resolved where ${owner} = resolved.record_id ${place}`;
    const byId = await sql.unsafe(
      `with resolved as (
         delete from mirror.unresolved_references as reference using mirror.${target}s as target
         where reference.resource = $1 and reference.field = $2 and reference.target_resource = $3
           and target.id = reference.target_key
         returning reference.record_id, reference.position, target.id
       )
       ${fill}`,
      [resource, field, target],
    );
    resolved += byId.count;
    if (target === "project") resolved += (await sql.unsafe(bySlug(fill), [resource, field])).count;
  }
  return resolved;
}

/**
 * A slug stands only where the key is no number: /project/42/ is id 42, whatever project is called 42. Of several projects with a
 * slug, one that still exists is meant.
 */
const bySlug = (fill: string) =>
  `with named as (
     select distinct on (slug) slug, id from mirror.projects
     where slug in (select target_key from mirror.unresolved_references where target_resource = 'project')
     order by slug, deleted_at nulls first, id
   ), resolved as (
     delete from mirror.unresolved_references as reference using named
     where reference.resource = $1 and reference.field = $2 and reference.target_resource = 'project'
       and reference.target_key !~ '^[0-9]+$' and named.slug = reference.target_key
     returning reference.record_id, reference.position, named.id
   )
   ${fill}`;

export interface DanglingTarget {
  resource: "user" | "project" | "version";
  key: string;
}

/**
 * The records that are referred to but not here and that it is time to ask for: never asked, or found gone before `goneBefore`.
 * In order after `after`, `limit` at most.
 */
export async function findDanglingTargets(
  sql: Sql,
  options: { goneBefore: string; after: DanglingTarget | null; limit: number },
): Promise<DanglingTarget[]> {
  const { after } = options;
  return sql<DanglingTarget[]>`
    select distinct target_resource as resource, target_key as key
    from mirror.unresolved_references
    where (status = 'pending' or (status = 'gone' and checked_at < ${options.goneBefore}::timestamptz))
      and target_key is not null
      and (${after === null} or (target_resource, target_key) > (${after?.resource ?? ""}, ${after?.key ?? ""}))
    order by target_resource, target_key
    limit ${options.limit}`;
}

/** Takes new references for gone as well where another one to the same record was found so at or after `since`. */
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

/** Notes that upstream has no such record, for every reference to it. */
export async function markGone(sql: Sql, target: DanglingTarget, checkedAt: string): Promise<void> {
  await sql`
    update mirror.unresolved_references set status = 'gone', checked_at = ${checkedAt}::timestamptz
    where target_resource = ${target.resource} and target_key = ${target.key}`;
}

export async function countUnresolved(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) as count from mirror.unresolved_references`;
  return row?.count ?? 0;
}
