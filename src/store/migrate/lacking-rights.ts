import { StoreError } from "../../base/errors.ts";
import type { AnySql } from "../connection/sql.ts";
import { withStoreErrors } from "../connection/store-errors.ts";

/**
 * The rights that docmirror needs and the role of this session lacks, such as "insert into mirror.users". Those of
 * `migrate` are needed for `docmirror migrate` alone. A sync creates the schemas where they are missing, so it
 * needs that right too. Nothing is tried: the catalog of the server is asked.
 */
export async function findLackingRights(sql: AnySql): Promise<{ sync: string[]; migrate: string[] }> {
  const rows = await withStoreErrors(
    "read the rights of the role",
    () => sql<{ need: "sync" | "migrate"; lacking: string }[]>`
      with ours as (
        select name, to_regnamespace(name)::oid as id
        from unnest(array['mirror', 'sync', 'rollup', 'report']) with ordinality as schema (name, place)
      ),
      is_new as (select bool_and(id is null) as value from ours),
      usable as (select name, id from ours where has_schema_privilege(id, 'usage'))
      select case when is_new.value then 'sync' else 'migrate' end as need,
        format('create schemas in the database %I', current_database()) as lacking
      from is_new where not has_database_privilege(current_database(), 'create')
      union all
      select 'sync', format('make temporary tables in the database %I', current_database())
      where not has_database_privilege(current_database(), 'temporary')
      union all
      select 'sync', format('use the schema %I', name)
      from ours where id is not null and not has_schema_privilege(id, 'usage')
      union all
      select 'migrate', format('change the schema %I, which belongs to %I', name, pg_get_userbyid(nspowner))
      from ours join pg_namespace as space on space.oid = id
      where not pg_has_role(nspowner, 'usage')
      union all
      select 'sync', format('%s %s.%I', verb.words, name, relname)
      from usable
      join pg_class as relation on relnamespace = usable.id and relkind in ('r', 'p')
      cross join (values
        ('select', 'read'), ('insert', 'insert into'), ('update', 'update'), ('delete', 'delete from')
      ) as verb (privilege, words)
      where (name <> 'sync' or relname not in ('migrations', 'definitions') or privilege = 'select')
        and not has_table_privilege(relation.oid, privilege)
      union all
      select 'sync', format('call %s', routine.oid::regprocedure)
      from usable
      join pg_proc as routine on pronamespace = usable.id
      where not has_function_privilege(routine.oid, 'execute')`,
  );
  const lackingFor = (need: "sync" | "migrate") =>
    rows.filter((row) => row.need === need).map(({ lacking }) => lacking);
  return { sync: lackingFor("sync"), migrate: lackingFor("migrate") };
}

/** Throws StoreError where a schema that is there belongs to another role than that of this session. */
export async function assertMayMigrate(sql: AnySql): Promise<void> {
  const [other] = await sql<{ name: string; role: string; owner: string }[]>`
    select nspname as name, current_user::text as role, pg_get_userbyid(nspowner)::text as owner
    from pg_namespace
    where nspname in ('mirror', 'sync', 'rollup', 'report') and not pg_has_role(nspowner, 'usage')
    order by 1 limit 1`;
  if (other === undefined) return;
  const { name, role, owner } = other;
  throw new StoreError(
    `could not bring the schema up to date: the role ${role} may not change the schema ${name}, which belongs to ${owner}`,
    { sqlstate: "42501", hint: `run \`docmirror migrate\` as the role ${owner}` },
  );
}
