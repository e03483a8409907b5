import { ConfigError, StoreError } from "../../base/errors.ts";
import { type AnySql, oneRow, runText, type Sql, statement, withTransaction } from "../connection/sql.ts";
import { withStoreErrors } from "../connection/store-errors.ts";
import { takeMigrationTurn } from "./migration-ledger.ts";

const WORKER_GRANTS = statement<{ statement: string }>("worker_grants", import.meta.url);
const LACKING_RIGHTS = statement<{ need: "sync" | "migrate"; lacking: string }>(
  "lacking_rights",
  import.meta.url,
);
const HIDING_TABLES = statement<HidingTable>("hiding_tables", import.meta.url);
const CATALOG_LOOK = statement<CatalogLook & { hiding: string | null }>("catalog_look", import.meta.url);

/**
 * Gives a role all that `docmirror worker` and the other commands need, and not the right to change a table: `docmirror migrate`,
 * `restore` and `grant-reader` stay with the owner. Tables that a later migration makes come with these rights. All or nothing, and safe
 * to repeat. Throws ConfigError for a role that is missing, or that may do all that the owner may; StoreError where this session may not grant.
 */
export async function grantWorker(sql: Sql, role: string): Promise<void> {
  await withStoreErrors("grant the worker its rights", () =>
    withTransaction(sql, async (tx) => {
      // Two at once would change the same rows of the catalog, which Postgres refuses.
      await takeMigrationTurn(tx);
      const { exists, owns } = await oneRow(
        tx<{ exists: boolean; owns: boolean }[]>`
          select rolname is not null as exists, coalesce(pg_has_role(rolname, nspowner, 'member'), false) as owns
          from pg_namespace left join pg_roles on rolname = ${role}
          where nspname = 'mirror'`,
      );
      if (!exists) {
        throw new ConfigError(`there is no role ${JSON.stringify(role)}`, {
          hint: "make it first, as by `createuser --pwprompt`, and repeat the command",
        });
      }
      if (owns) {
        throw new ConfigError(`${role} may do all that the owner of the mirror may, and needs no rights`, {
          hint: "name another role, for a worker that owns nothing",
        });
      }
      const statements = await WORKER_GRANTS(tx, { role });
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
  const rows = await withStoreErrors("read the rights of the role", () => LACKING_RIGHTS(sql));
  const lackingFor = (need: "sync" | "migrate") =>
    rows.filter((row) => row.need === need).map(({ lacking }) => lacking);
  return { sync: lackingFor("sync"), migrate: lackingFor("migrate") };
}

/** Row level security of a table, which binds the role of this session. `policies` names them; empty: there is none, so all rows are hidden. */
export interface HidingTable {
  /** As in `mirror.builds`. */
  table: string;
  policies: string;
}

/** The tables from which this role may read, but not every row. With `quietly`, only in a session where nothing fails for it. */
export async function findHidingTables(sql: AnySql, { quietly = false } = {}): Promise<HidingTable[]> {
  return HIDING_TABLES(sql, { quietly });
}

/** What the catalog says of our tables and of our role, before any of them is read. */
interface CatalogLook {
  /** Whether the tables of the schema's ledger are there. */
  isMade: boolean;
  /**
   * The statement that gives this role the right to make temporary tables; null where it has it. Hardened servers take it from all. Each
   * refresh of the reports but the first one needs it.
   */
  temporaryGrant: string | null;
}

/** Throws StoreError where rows of a table are hidden and nothing would fail for it. */
export async function lookAtCatalog(sql: AnySql): Promise<CatalogLook> {
  const { hiding, ...facts } = await oneRow(CATALOG_LOOK(sql, { quietly: true }));
  if (hiding !== null) throw hidesRows(hiding);
  return facts;
}

/** What a person does about such tables. */
export const SHOW_ROWS =
  "as the owner, run `alter table NAME disable row level security` for each, or let a superuser run `alter role ROLE bypassrls`";

/**
 * Throws StoreError where rows of a table are hidden from this role. Our sessions make the server fail in that case, except for
 * statements outside of transactions in sessions that a pooler lends.
 */
export async function assertRowsShown(sql: AnySql): Promise<void> {
  const [hiding] = await findHidingTables(sql);
  if (hiding) throw hidesRows(hiding.table);
}

const hidesRows = (table: string) =>
  new StoreError(`could not use the database: row level security hides rows of ${table} from this role`, {
    sqlstate: "42501",
    hint: SHOW_ROWS,
  });

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

/** The things that each role may make in this database without a right of its own, for people; empty where that was revoked. */
export async function findOpenToAll(sql: Sql): Promise<string> {
  const { temporary, objects } = await oneRow(
    sql<{ temporary: boolean; objects: boolean }[]>`
      select has_database_privilege('public', current_database(), 'temporary') as temporary,
        has_function_privilege('public', 'pg_catalog.lo_from_bytea(oid, bytea)', 'execute') as objects`,
  );
  return [temporary && "temporary tables", objects && "large objects"].filter(Boolean).join(" and ");
}
