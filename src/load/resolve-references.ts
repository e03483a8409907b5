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
  let resolved = 0;
  for (const { resource, field, table, key, target } of FIELDS) {
    const owner = table === "project_users" ? "project_id" : "id";
    const place = table === "project_users" ? "and owner.position = reference.position" : "";
    // A slug stands only where the key is no number: /project/42/ is id 42, whatever project is called 42.
    const bySlug =
      target === "project"
        ? `union all
           (select distinct on (reference.record_id, reference.position) reference.record_id, reference.position, project.id
            from dangling as reference join mirror.projects as project on project.slug = reference.target_key
            where reference.target_key !~ '^[0-9]+$'
            order by reference.record_id, reference.position, project.deleted_at nulls first, project.id)`
        : "";
    const result = await sql.unsafe(
      `with dangling as (
         select record_id, position, target_key from mirror.unresolved_references
         where resource = $1 and field = $2 and target_resource = $3
       ), found as (
         select reference.record_id, reference.position, target.id
         from dangling as reference join mirror.${target}s as target on target.id = reference.target_key
         ${bySlug}
       ), filled as (
         update mirror.${table} as owner set ${key} = reference.id
         from found as reference
         where owner.${owner} = reference.record_id ${place}
       )
       delete from mirror.unresolved_references as unresolved
       using found
       where unresolved.resource = $1 and unresolved.field = $2
         and unresolved.record_id = found.record_id and unresolved.position = found.position`,
      [resource, field, target],
    );
    resolved += result.count;
  }
  return resolved;
}

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
