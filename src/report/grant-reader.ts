import { ConfigError, StoreError } from "../base/errors.ts";
import { RESOURCES } from "../resources/resources.ts";
import { runText, type Sql, withTransaction } from "../store/connection/sql.ts";
import { sqlstateOf, toStoreError, withStoreErrors } from "../store/connection/store-errors.ts";

export interface ReaderOptions {
  /** Users' names and logins too (schema `report_people`); without it, a role loses that right. @default false */
  withPeople?: boolean;
  /** All that `docmirror serve` reads: the mirrored records too, with users. @default false */
  withInterface?: boolean;
}

interface ReaderGrant extends Required<ReaderOptions> {
  role: string;
  /** The role does not exist yet, so the statements create it. */
  isNew: boolean;
  /** They give the role just these rights, and UTC as its zone, in order and without semicolons. Safe to repeat. */
  statements: string[];
  /** Rights of the role beyond reading, which it already had. */
  warnings: string[];
}

/**
 * What `docmirror serve` reads beside schema `report`: the interface the records, the page of a build its history,
 * `/status.json` and the metrics how runs, jobs and notices go. Nothing else is granted, such as the replies of upstream in
 * `sync.pages`. A table that this version does not have is left out.
 */
const INTERFACE_RELATIONS = [
  ...RESOURCES.map((resource) => `mirror.${resource}s`),
  "mirror.archived_logs",
  "mirror.build_logs",
  "mirror.build_transitions",
  "mirror.changes",
  "mirror.file_anchors",
  "mirror.file_contents",
  "mirror.log_files",
  "mirror.project_users",
  "mirror.unresolved_references",
  "sync.checks",
  "sync.definitions",
  "sync.drift",
  "sync.jobs",
  "sync.leader",
  "sync.lists",
  "sync.migrations",
  "sync.missing_records",
  "sync.muted_projects",
  "sync.open_builds",
  "sync.prunings",
  "sync.quarantine",
  "sync.revisions",
  "sync.rounds",
  "sync.runs",
  "sync.service",
  "sync.upstream_schemas",
  "sync.walks",
];

/**
 * The metrics count notices by these columns. The rest of a notice is for the receiver of the webhook alone, as are the errors of its
 * replies.
 */
const NOTICES = "sync.notices";
const COUNTED_OF_NOTICES = "noted_at, delivered_at, given_up_at";
const SERVED = [...INTERFACE_RELATIONS, NOTICES];

/** A longer query of a BI tool is probably a mistake, and a refresh may have to wait for it. */
const STATEMENT_TIMEOUT = "60s";
/** Postgres cuts longer names off. */
const MAX_NAME_BYTES = 63;
/** Names of people, tools and accounts of a cloud, such as `sales-bi@example.iam`. */
const PLAIN_NAME = /^[\p{L}_][\p{L}\p{N}_.@$-]*$/u;

/** With the first relation outside of `report` that it can already read, and the role that gives the right. */
type RoleFacts = Record<"exists" | "superuser" | "createrole", boolean> &
  Record<"reads" | "through", string | null>;

/**
 * Plans the grants that let a role read schema `report` and what the options add, and nothing else of docmirror's. Throws
 * ConfigError for a name that no role can have, for a new role whose name is not plain, and for a role that can already
 * read more: grants would not limit it.
 */
export async function planReaderGrant(
  sql: Sql,
  role: string,
  { withPeople = false, withInterface = false }: ReaderOptions = {},
): Promise<ReaderGrant> {
  const granted = withInterface ? INTERFACE_RELATIONS : [];
  const allowed = withInterface ? SERVED : [];
  const fault = nameFault(role);
  if (fault !== null) throw new ConfigError(`no role can be called ${JSON.stringify(role)}: ${fault}`);
  return withStoreErrors("read the rights of the role", async () => {
    const [facts] = await sql<RoleFacts[]>`
      with reader as (select coalesce((select rolname from pg_roles where rolname = ${role}), 'public') as name),
      -- A role can also switch to the roles that it is a member of, even without inheriting from them.
      acting as (
        select name from reader where name = 'public'
        union all
        select rolname from pg_roles, reader where name <> 'public' and pg_has_role(name, rolname, 'member')
      ),
      hidden as (
        select relation.oid, space.oid as space, format('%I.%I', nspname, relname) as name
        from pg_class as relation
        join pg_namespace as space on space.oid = relnamespace
        where relkind in ('r', 'p', 'v', 'm') and nspname in ('mirror', 'sync', 'rollup')
          and nspname || '.' || relname <> all (${allowed})
      )
      select reader.name <> 'public' as exists, coalesce(rolsuper, false) as superuser,
             coalesce(rolcreaterole, false) as createrole, readable.name as reads, readable.acting as through
      from reader
      left join pg_roles on rolname = reader.name
      left join lateral (
        select hidden.name, acting.name as acting from hidden, acting
        where has_schema_privilege(acting.name, hidden.space, 'usage') and has_any_column_privilege(acting.name, hidden.oid, 'select')
        order by acting.name <> reader.name, hidden.name
        limit 1
      ) as readable on true`;
    if (facts === undefined) throw new Error("a select over one row gave none");
    // Such a name is legal in quotes, but a typing mistake or a pasted statement is more likely than the wish for it.
    if (!facts.exists && !PLAIN_NAME.test(role))
      throw new ConfigError(`there is no role ${JSON.stringify(role)}, and a new one needs a plain name`, {
        hint: "use letters, digits and _ - . @ $, or make that role yourself and repeat the command",
      });
    assertFenced(role, facts);
    const statements = await listStatements(sql, role, { isNew: !facts.exists, withPeople, granted });
    const warnings = facts.createrole ? ["it may create roles, and so give itself more rights"] : [];
    return { role, isNew: !facts.exists, withPeople, withInterface, statements, warnings };
  });
}

/** Whether a role exists that may read all that such a plan grants. */
export async function isReader(sql: Sql, role: string, options: ReaderOptions): Promise<boolean> {
  const schemas = ["report", ...(options.withPeople ? ["report_people"] : [])];
  const relations = options.withInterface ? SERVED : [];
  const [reader] = await sql<{ may: boolean }[]>`
    select not exists (
      select from pg_class as relation join pg_namespace as space on space.oid = relnamespace
      where relkind in ('r', 'v') and (nspname = any (${schemas}::text[]) or nspname || '.' || relname = any (${relations}))
        and not (has_schema_privilege(role.oid, space.oid, 'usage') and has_any_column_privilege(role.oid, relation.oid, 'select'))
    ) as may
    from pg_roles as role where rolname = ${role}`;
  return reader?.may === true;
}

/** Runs the plan, all or nothing. Throws StoreError; where a right is missing, the hint says how to continue. */
export async function grantReader(sql: Sql, { role, statements }: ReaderGrant): Promise<void> {
  try {
    await withTransaction(sql, async (tx) => {
      // Text that the server wrote: it quotes the names.
      for (const statement of statements) await runText(tx, statement);
    });
  } catch (error) {
    if (sqlstateOf(error) !== "42501") throw toStoreError(error, `grant rights to ${role}`);
    throw new StoreError(`could not grant rights to ${role}: ${(error as Error).message} (42501)`, {
      cause: error,
      sqlstate: "42501",
      hint: "ask a role that may create roles (CREATEROLE) and owns the schema report to run what --dry-run prints",
    });
  }
}

async function listStatements(
  sql: Sql,
  role: string,
  { isNew, withPeople, granted }: { isNew: boolean; withPeople: boolean; granted: readonly string[] },
): Promise<string[]> {
  // Postgres quotes the names, because it knows its reserved words. Rights on later views must name the role
  // that will create them.
  const rows = await sql<{ statement: string }[]>`
    with names as (
      select quote_ident(${role}) as role, quote_ident(current_database()) as database
    ),
    -- Days are UTC days, also where the tool makes them of times. A setting for one database wins over the one for all.
    zone as (
      select setdatabase <> 0 as is_of_database, entry ~* '=(etc/)?utc$' as is_utc
      from pg_db_role_setting
      join pg_roles on pg_roles.oid = setrole and rolname = ${role}
      left join pg_database on pg_database.oid = setdatabase
      cross join unnest(setconfig) as entry
      where entry ilike 'timezone=%' and (setdatabase = 0 or datname = current_database())
      order by is_of_database desc limit 1
    ),
    schemas as (
      select place, quote_ident(nspname) as name, quote_ident(pg_get_userbyid(nspowner)) as owner,
             nspname = 'report' or ${withPeople} as may_read
      from pg_namespace
      join unnest(array['report', 'report_people']) with ordinality as ours (ours, place) on nspname = ours
    ),
    granted as (
      select 10 + row_number() over (order by nspname) as place, quote_ident(nspname) as name,
             string_agg(format('%I.%I', nspname, relname), ', ' order by relname) as relations
      from pg_class join pg_namespace as space on space.oid = relnamespace
      where nspname || '.' || relname = any (${[...granted]})
      group by nspname
    )
    select statement from (
      select 0 as place, 1 as step, format('create role %s login', role) as statement from names where ${isNew}
      union all
      select 0, 2, format('alter role %s set default_transaction_read_only = on', role) from names where ${isNew}
      union all
      select 0, 3, format('alter role %s set statement_timeout = %L', role, ${STATEMENT_TIMEOUT}::text) from names where ${isNew}
      union all
      select 0, 4, format('alter role %s%s set timezone = %L', role, case when is_of_database then ' in database ' || database end, 'UTC')
      from names left join zone on true
      where is_utc is not true
      union all
      select 0, 5, format('grant connect on database %s to %s', database, role) from names
      union all
      select place, step, case when may_read
          then format(granting, name, role, owner)
          else format(revoking, name, role, owner) end
      from names, schemas, (values
        (1, 'grant usage on schema %1$s to %2$s', 'revoke usage on schema %1$s from %2$s'),
        (2, 'grant select on all tables in schema %1$s to %2$s', 'revoke all on all tables in schema %1$s from %2$s'),
        (3, 'alter default privileges for role %3$s in schema %1$s grant select on tables to %2$s',
            'alter default privileges for role %3$s in schema %1$s revoke select on tables from %2$s')
      ) as steps (step, granting, revoking)
      where may_read or not ${isNew}
      union all
      select place, 1, format('grant usage on schema %s to %s', granted.name, role) from names, granted
      union all
      select place, 2, format('grant select on %s to %s', relations, role) from names, granted
      union all
      -- Earlier versions granted all of it.
      select place, 3, format('revoke select on %s from %s', ${NOTICES}::text, role) from names, granted where name = 'sync'
      union all
      select place, 4, format('grant select (%s) on %s to %s', ${COUNTED_OF_NOTICES}::text, ${NOTICES}::text, role)
      from names, granted where name = 'sync'
    ) as steps
    order by place, step`;
  return rows.map(({ statement }) => statement);
}

function nameFault(role: string): string | null {
  if (role === "") return "it is empty";
  if (role.includes("\0")) return "it contains a character that no name can have";
  if (Buffer.byteLength(role) > MAX_NAME_BYTES) return `it is longer than ${MAX_NAME_BYTES} bytes`;
  if (/^(?:public|none)$|^pg_/.test(role)) return "Postgres reserves this name";
  return null;
}

function assertFenced(role: string, { superuser, reads, through }: RoleFacts): void {
  const hint = "use a separate role for reading, as in: `docmirror grant-reader docmirror_reader`";
  if (superuser) throw new ConfigError(`${role} is a superuser and can already read everything`, { hint });
  if (reads === null) return;
  const by = through === role ? "" : ` as ${through}`;
  const keep = SERVED.includes(reads) ? ", or keep it with --interface" : "";
  throw new ConfigError(`${role} can already read more than the report: ${reads}${by}`, {
    hint: `${hint}; or revoke that right first${keep}`,
  });
}
