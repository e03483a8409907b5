import { ConfigError } from "../../base/errors.ts";
import { runText } from "../connection/run-statement.ts";
import type { Sql } from "../connection/sql.ts";
import { withStoreErrors } from "../connection/store-errors.ts";
import { withTransaction } from "../connection/transaction.ts";
import { MIGRATION_LOCK_KEY } from "./migrate.ts";

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
