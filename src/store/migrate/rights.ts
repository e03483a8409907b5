import { ConfigError, StoreError } from "../../base/errors.ts";
import { type AnySql, runText, type Sql, withTransaction } from "../connection/sql.ts";
import { withStoreErrors } from "../connection/store-errors.ts";
import { MIGRATION_LOCK_KEY } from "./migration-ledger.ts";

/**
 * Gives a role all that `docmirror worker` and the other commands need, and not the right to change a table: `docmirror migrate`,
 * `restore` and `grant-reader` stay with the owner. Tables that a later migration makes come with these rights. All or nothing, and safe
 * to repeat. Throws ConfigError for a role that is missing, or that may do all that the owner may; StoreError where this session may not grant.
 */
export async function grantWorker(sql: Sql, role: string): Promise<void> {
  await withStoreErrors("grant the worker its rights", () =>
    withTransaction(sql, async (tx) => {
      // Two at once would change the same rows of the catalog, which Postgres refuses.
      await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK_KEY})`;
      const [facts] = await tx<{ exists: boolean; owns: boolean }[]>`
        select rolname is not null as exists, coalesce(pg_has_role(rolname, nspowner, 'member'), false) as owns
        from pg_namespace left join pg_roles on rolname = ${role}
        where nspname = 'mirror'`;
      if (!facts?.exists) {
        throw new ConfigError(`there is no role ${JSON.stringify(role)}`, {
          hint: "make it first, as by `createuser --pwprompt`, and repeat the command",
        });
      }
      if (facts.owns) {
        throw new ConfigError(`${role} may do all that the owner of the mirror may, and needs no rights`, {
          hint: "name another role, for a worker that owns nothing",
        });
      }
      const statements = await tx<{ statement: string }[]>`
        with names as (
          select quote_ident(${role}) as role, quote_ident(current_database()) as database
        ),
        ours as (
          select quote_ident(nspname) as name, quote_ident(pg_get_userbyid(nspowner)) as owner,
            -- A refresh has the tables that it filled analyzed. Before Postgres 17 only their owner may, and autovacuum does it.
            case nspname when 'report_people' then 'select' else 'select, insert, update, delete'
              || case when current_setting('server_version_num')::int >= 170000 then ', maintain' else '' end end as rights
          from pg_namespace where nspname in ('mirror', 'sync', 'rollup', 'report', 'report_people')
        )
        select statement from (
          select 1 as step, format('grant connect, temporary on database %s to %s', database, role) as statement from names
          union all
          select step, format(text, rights, name, role, owner) from names, ours, (values
            (2, 'grant usage on schema %2$s to %3$s'),
            (3, 'grant %1$s on all tables in schema %2$s to %3$s'),
            -- A backup has the numbers that are given next.
            (4, 'grant select on all sequences in schema %2$s to %3$s'),
            (5, 'alter default privileges for role %4$s in schema %2$s grant %1$s on tables to %3$s'),
            (5, 'alter default privileges for role %4$s in schema %2$s grant select on sequences to %3$s')
          ) as texts (step, text)
          union all
          -- They say which schema this is.
          select 6, format('revoke insert, update, delete on sync.migrations, sync.definitions from %s', role) from names
        ) as steps
        order by step`;
      // Text that the server wrote: it quotes the names.
      for (const { statement } of statements) await runText(tx, statement);
    }),
  );
}

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

/** What each role may make in this database without a right of its own, for people; empty where that was revoked. */
export async function findOpenToAll(sql: Sql): Promise<string> {
  const [row] = await sql<{ temporary: boolean; objects: boolean }[]>`
    select has_database_privilege('public', current_database(), 'temporary') as temporary,
      has_function_privilege('public', 'pg_catalog.lo_from_bytea(oid, bytea)', 'execute') as objects`;
  return [row?.temporary && "temporary tables", row?.objects && "large objects"]
    .filter(Boolean)
    .join(" and ");
}
