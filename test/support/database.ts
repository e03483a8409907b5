import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { BUILD_STATES, isFinalStage } from "../../src/resources/build-states.ts";
import { connect, withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { endConnections, KEPT } from "./connections.ts";
import { replaceDatabase } from "./replace-database.ts";

const AS_TEST = { applicationName: "docmirror test", max: 1 };

/** A connection of the test's own to any database, for as long as `fn` takes. */
export const withTestSql = <T>(url: string, fn: (sql: Sql) => Promise<T>): Promise<T> =>
  withSql(url, AS_TEST, fn);

export interface TestDatabase extends AsyncDisposable {
  url: string;
  /** A connection as the owner, opened when it is used first; `max` says how many. It ends with the database. */
  readonly sql: Sql;
  /** Drops it, even while clients are connected. May be called twice. */
  dispose(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** false: an empty database without any schema of ours. @default true */
  migrated?: boolean;
  /** The URL of another test database, to which nobody is connected: the new one begins with what it holds. */
  copyOf?: string;
  /** @default 1 */
  max?: number;
}

/** A database of this worker, and the connections to it. */
type Made = Record<"name" | "url", string> & { sql: Sql | undefined };
/** Those that are empty, and that nobody uses, with the number of their connections. The global setup drops them. */
const left: (Made & { max: number })[] = [];

function takeLeft(max: number): Made | undefined {
  const place = left.findLastIndex((one) => one.max === max);
  return place < 0 ? undefined : left.splice(place, 1)[0];
}

/**
 * A fresh database of its own on the server that the global setup chose: a copy of the template, or one that an earlier test left, whose
 * tables are empty again. That takes a third of the time.
 */
export async function createTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { migrated = true, copyOf, max = 1 } = options;
  const isPlain = migrated && copyOf === undefined;
  const database = (isPlain ? takeLeft(max) : undefined) ?? (await create(migrated, copyOf));
  const release = async () => {
    database.sql ??= isPlain ? connect(database.url, { ...AS_TEST, max }) : undefined;
    if (database.sql && isPlain && (await empty(database.sql, max).catch(() => false)))
      left.push({ ...database, max });
    else {
      await endConnections(database.url);
      await database.sql?.end({ timeout: 5 });
      await asAdmin(`drop database if exists ${database.name} with (force)`);
    }
  };
  let disposed: Promise<void> | undefined;
  const dispose = () => {
    disposed ??= release();
    return disposed;
  };
  return {
    url: database.url,
    get sql() {
      database.sql ??= connect(database.url, { ...AS_TEST, max });
      return database.sql;
    },
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

const asAdmin = (...statements: string[]) =>
  withTestSql(inject("databaseServer").adminUrl, async (sql) => {
    for (const statement of statements) await sql.unsafe(statement);
  });

async function create(migrated: boolean, copyOf: string | undefined): Promise<Made> {
  const { adminUrl, template, strategy } = inject("databaseServer");
  const name = `${template}${randomBytes(4).toString("hex")}`;
  const source =
    copyOf === undefined ? (migrated ? template : "template0") : new URL(copyOf).pathname.slice(1);
  const idle = `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${source}' and state = 'idle'`;
  await asAdmin(
    ...(copyOf === undefined ? [] : [idle]),
    `create database ${name} template ${source} ${strategy}`,
  );
  return { name, url: replaceDatabase(adminUrl, name), sql: undefined };
}

/** What the template has for its own: tables with rows, and all that was made there. Each row counts by its place and who wrote it. */
export const STRUCTURE = `
  select sum(hashtextextended(part, 0))::text as print from (
    ${["report.error_rules", "sync.definitions", "sync.migrations"].map((name) => printOf(name)).join(" union all ")}
    union all ${[
      ...["pg_attrdef", "pg_constraint", "pg_event_trigger", "pg_extension", "pg_policy", "pg_proc"],
      ...["pg_publication", "pg_rewrite", "pg_trigger", "pg_type"],
    ]
      .map((name) => printOf(name, "oid >= 16384"))
      .join(" union all ")}
    union all ${printOf("pg_namespace", "oid >= 16384 and nspname !~ '^pg_'")}
    union all ${printOf("pg_index", "indexrelid >= 16384")}
    union all ${printOf("pg_attribute", "attrelid >= 16384")}
    union all ${printOf("pg_description", "objoid >= 16384")}
    union all ${printOf("pg_db_role_setting", "setdatabase = (select oid from pg_database where datname = current_database())")}
    union all select row(oid, relname, relacl, reloptions, relowner, relreplident)::text from pg_class
      where oid >= 16384 and relpersistence <> 't'
    union all select row(datacl, datdba, datconnlimit, datallowconn, shobj_description(oid, 'pg_database'))::text from pg_database
      where datname = current_database()
  ) as parts`;

function printOf(table: string, where = "true"): string {
  return `select '${table}' || row(ctid, xmin)::text as part from ${table} where ${where}`;
}

/** What a migration leaves in the one table of `sync` that has rows from the beginning. */
const DECLARED_STATES = Object.entries(BUILD_STATES)
  .map(([state, { stage, source }]) => `('${state}', '${stage}', ${isFinalStage(stage)}, '${source}')`)
  .join(", ");

/** To truncate a table takes a millisecond and more, since its files and those of its indexes are made anew. To delete few rows takes less. */
const LARGE_BYTES = 131_072;

/**
 * Empties a database as the template is, sets its connection back, and says whether it is like that then: not where a test made or changed
 * more than rows. Fails where one of several connections is still at work, or has a lock that only it can give back.
 */
async function empty(sql: Sql, max: number): Promise<boolean> {
  const isOurs = max > 1 ? `application_name = '${AS_TEST.applicationName}'` : "false";
  const results = await sql.unsafe<{ print: string }[][]>(`
    discard temp;
    reset session authorization;
    reset all;
    unlisten *;
    select pg_advisory_unlock_all();
    do $$
    declare
      filled record;
    begin
      if exists (select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and ${isOurs}
        and (state <> 'idle' or pid in (select pid from pg_locks where locktype = 'advisory')))
      then
        raise exception 'a connection of the test is not free';
      end if;
      perform pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
        and (state <> 'idle' or not (${isOurs} or starts_with(application_name, '${KEPT}')));
      set local lock_timeout = '5s';
      set local session_replication_role = replica;
      for filled in
        select oid, oid::regclass::text as name, pg_table_size(oid) > ${LARGE_BYTES} as is_large from pg_class
        where relkind = 'r' and oid >= 16384 and pg_relation_size(oid) > 0
          and oid not in ('report.error_rules'::regclass, 'sync.build_states'::regclass, 'sync.definitions'::regclass,
            'sync.migrations'::regclass)
      loop
        execute case when filled.is_large then 'truncate ' || filled.name || ' cascade' else 'delete from ' || filled.name end;
        -- As of a table that nobody has analyzed.
        update pg_class set relpages = 0, reltuples = -1 where oid = filled.oid and reltuples >= 0;
      end loop;
      if exists (select from sync.build_states full join (values ${DECLARED_STATES}) as declared (state, stage, is_final, source)
        using (state, stage, is_final, source) where declared.state is null or build_states.state is null) then
        delete from sync.build_states;
        insert into sync.build_states (state, stage, is_final, source) values ${DECLARED_STATES};
      end if;
      perform setval(seqrelid::regclass, seqstart, false) from pg_sequence where pg_sequence_last_value(seqrelid) is not null;
    end $$;
    ${STRUCTURE}`);
  return results.at(-1)?.[0]?.print === inject("databaseServer").structure;
}

/** What `fn` does to a database is undone behind it. */
export async function rolledBack(sql: Sql, fn: (sql: Sql) => Promise<unknown>): Promise<void> {
  const undo = new Error("undone");
  await sql
    .begin(async (tx) => {
      await fn(tx as unknown as Sql);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
}

/** The URL of a database that is not on the server. */
export const absentDatabase = () =>
  replaceDatabase(inject("databaseServer").adminUrl, "docmirror_is_not_here");

/** How many sessions wait for a table or a number of this database. Other tests wait for locks in databases of their own. */
export async function countWaits(sql: Sql): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select count(*) as waiting from pg_locks join pg_database on pg_database.oid = database
    where not granted and datname = current_database()`;
  return row?.waiting ?? 0;
}
