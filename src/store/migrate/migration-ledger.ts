/**
 * Which migrations a database has: `sync.migrations`. Older versions used drizzle's migrator, whose ledger in
 * schema `drizzle` is shared by all programs of a database: each of them takes the rows of the others for its
 * own. `docmirror migrate` moves our rows out. Until then they are read there, because a command that only
 * reads changes nothing.
 */

import { runText } from "../connection/run-statement.ts";
import type { AnySql, TransactionSql } from "../connection/sql.ts";
import { sqlstateOf } from "../connection/store-errors.ts";
import type { Migration } from "./migration-files.ts";

export interface AppliedMigration {
  tag: string;
  hash: string;
  /** UTC. Null when it is unknown. */
  appliedAt: string | null;
  /** Whether a program that does not know it may go on. False for migrations from before this was recorded. */
  additive: boolean;
}

interface Ledgers {
  /** Whether schema `sync` exists. */
  hasSchema: boolean;
  hasOwn: boolean;
  /** Whether our ledger has the column `additive`, which came after it. */
  hasAdditive: boolean;
  hasShared: boolean;
  /** Whether our role may read the shared ledger, and whether it has the column that older versions added. */
  isReadable: boolean;
  isDated: boolean;
}

/** The migrations of this database. They may include some that are not `known`. Changes nothing. */
export async function findApplied(sql: AnySql, known: readonly Migration[]): Promise<AppliedMigration[]> {
  const ledgers = await findLedgers(sql);
  if (ledgers.hasOwn) {
    return [
      ...(await sql<AppliedMigration[]>`
        select tag, hash, applied_at as "appliedAt", ${ledgers.hasAdditive ? sql`additive` : sql`false as additive`}
        from sync.migrations`),
    ];
  }
  // Without our schema, our rows in the shared ledger belong to a mirror that was dropped.
  return ledgers.hasSchema && ledgers.hasShared ? await findShared(sql, known, ledgers) : [];
}

/** Records `added`. The first call creates the ledger with `before`, which an older version has applied. */
export async function recordApplied(
  tx: TransactionSql,
  before: readonly AppliedMigration[],
  added: readonly Migration[],
  known: readonly Migration[],
): Promise<void> {
  const ledgers = await findLedgers(tx);
  if (!ledgers.hasOwn) {
    await createLedger(tx, before);
    // If our role may not read the shared ledger, no older version ever used it with this role.
    if (ledgers.hasShared && ledgers.isReadable) await leaveShared(tx, known, ledgers);
  }
  if (added.length > 0) {
    if (!ledgers.hasAdditive) await addAdditive(tx);
    await runText(tx, COMMENTS);
  }
  for (const { tag, hash, additive } of added) {
    await tx`
      insert into sync.migrations (tag, hash, applied_at, additive) values (${tag}, ${hash}, now(), ${additive})`;
  }
}

async function createLedger(tx: TransactionSql, before: readonly AppliedMigration[]): Promise<void> {
  await tx`create table sync.migrations (tag text primary key, hash text not null, applied_at timestamptz)`;
  await tx`
    insert into sync.migrations (tag, hash, applied_at)
    select tag, hash, "appliedAt"
    from jsonb_to_recordset(${JSON.stringify(before)}::text::jsonb)
      as applied (tag text, hash text, "appliedAt" timestamptz)`;
}

/** Not a migration: programs must be able to read it before they know which migrations there are. */
async function addAdditive(tx: TransactionSql): Promise<void> {
  await tx`alter table sync.migrations add column additive boolean not null default false`;
}

/** Fixed text, again with each migration: ledgers of older versions have some of these only. */
const COMMENTS = `
  comment on table sync.migrations is 'The migrations that this database has.';
  comment on column sync.migrations.tag is 'The name of the file, without its ending.';
  comment on column sync.migrations.hash is 'The SHA-256 of the file.';
  comment on column sync.migrations.applied_at is 'When it was applied; null where that is not known.';
  comment on column sync.migrations.additive is 'True where programs that do not know this migration may still use the database.'`;

async function findLedgers(sql: AnySql): Promise<Ledgers> {
  // From the catalog: to_regclass fails where another program hides its schema from our role.
  const [ledgers] = await sql<Ledgers[]>`
    with relation as (
      select nspname, class.oid, has_schema_privilege(space.oid, 'usage') and has_table_privilege(class.oid, 'select') as "isReadable",
        exists (select from pg_attribute where attrelid = class.oid and attname = 'applied_at' and not attisdropped) as "isDated"
      from pg_class as class join pg_namespace as space on space.oid = relnamespace
      where (nspname, relname) in (('sync', 'migrations'), ('drizzle', '__drizzle_migrations'))
    )
    select exists (select from pg_namespace where nspname = 'sync') as "hasSchema",
      exists (select from relation where nspname = 'sync') as "hasOwn",
      exists (
        select from relation join pg_attribute on attrelid = relation.oid
        where nspname = 'sync' and attname = 'additive' and not attisdropped
      ) as "hasAdditive",
      exists (select from relation where nspname = 'drizzle') as "hasShared",
      coalesce((select "isReadable" from relation where nspname = 'drizzle'), false) as "isReadable",
      coalesce((select "isDated" from relation where nspname = 'drizzle'), false) as "isDated"`;
  if (ledgers === undefined) throw new Error("a select without a table gave no row");
  return ledgers;
}

/** Our rows in the shared ledger: the same file with the same creation time. */
async function findShared(
  sql: AnySql,
  known: readonly Migration[],
  { isDated }: Pick<Ledgers, "isDated">,
): Promise<AppliedMigration[]> {
  const rows = await sql<{ hash: string; when: number; appliedAt: string | null }[]>`
    select hash, created_at as "when", ${isDated ? sql`applied_at` : sql`null`} as "appliedAt"
    from drizzle.__drizzle_migrations`;
  return known.flatMap(({ tag, hash, when }) => {
    const row = rows.find((candidate) => candidate.hash === hash && candidate.when === when);
    return row === undefined ? [] : [{ tag, hash, appliedAt: row.appliedAt, additive: false }];
  });
}

async function leaveShared(tx: TransactionSql, known: readonly Migration[], ledgers: Ledgers): Promise<void> {
  if ((await findShared(tx, known, ledgers)).length === 0) return;
  await keepReaders(tx);
  // Another program must not write a row between our check and the drop of the table.
  await tx`lock table drizzle.__drizzle_migrations in share row exclusive mode`;
  const ours = JSON.stringify(known.map(({ hash, when }) => ({ hash, when })));
  await tx`
    delete from drizzle.__drizzle_migrations as shared
    using jsonb_to_recordset(${ours}::text::jsonb) as ours (hash text, "when" bigint)
    where shared.hash = ours.hash and shared.created_at = ours.when`;
  const [left] = await tx<{ rows: boolean }[]>`
    select exists (select from drizzle.__drizzle_migrations) as rows`;
  if (left?.rows) return;
  const hasDropped = await tryDrop(tx, (savepoint) => savepoint`drop table drizzle.__drizzle_migrations`);
  if (hasDropped) await tryDrop(tx, (savepoint) => savepoint`drop schema drizzle`);
}

/** A role that syncs and does not own the schemas must still be able to see that they are current. */
async function keepReaders(tx: TransactionSql): Promise<void> {
  const grants = await tx<{ statement: string }[]>`
    select distinct format(
      'grant select on sync.migrations to %s', case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end
    ) as statement
    from pg_class, aclexplode(relacl) as granted
    where oid = 'drizzle.__drizzle_migrations'::regclass and privilege_type = 'SELECT' and grantee <> relowner`;
  // Text that the server wrote: it quotes the names.
  for (const { statement } of grants) await runText(tx, statement);
}

/** Returns false where the object belongs to another role, or where another object needs it. */
async function tryDrop(tx: TransactionSql, drop: (savepoint: TransactionSql) => Promise<unknown>) {
  try {
    await tx.savepoint(drop);
    return true;
  } catch (error) {
    if (["42501", "2BP01"].includes(sqlstateOf(error) ?? "")) return false;
    throw error;
  }
}
