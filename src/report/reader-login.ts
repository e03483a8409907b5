/**
 * The roles as which commands that only read log in at the embedded Postgres. The one that owns the mirror there is a superuser,
 * which one SELECT lets read each file of its account; and a session can always go back from a role that it was switched to.
 */
import { createHmac } from "node:crypto";
import { withSql } from "../store/connection/connect.ts";
import { readSqlFile, runText, type Sql } from "../store/connection/sql.ts";
import { withStoreErrors } from "../store/connection/store-errors.ts";
import { grantReader, isReader, planReaderGrant, type ReaderOptions } from "./grant-reader.ts";
import { READER, tooWideError } from "./read-statement.ts";

/** For statements that somebody wrote, and for our own, which also read the records. */
export type ReaderLogin = "docmirror_sql" | "docmirror_serve";

const RIGHTS = { docmirror_sql: {}, docmirror_serve: { withPeople: true, withInterface: true } };

/** Takes from each role what Postgres lets it do though it only reads. Done once, because it locks rows of the catalog. */
const REVOKE_OF_ALL = readSqlFile(new URL("sql/revoke_of_all.sql", import.meta.url));

/**
 * The URL of the same database for a login that only reads, which is made where it is missing. Null where there is no mirror.
 * `role` is what a statement may switch to. Throws StoreError, and ConfigError for a role that may do more than read the reports.
 */
export async function findReaderUrl(ownerUrl: string, login: ReaderLogin, role = READER) {
  const url = new URL(ownerUrl);
  const password = createHmac("sha256", decodeURIComponent(url.password)).update(login).digest("hex");
  return withSql(ownerUrl, { applicationName: "docmirror login", max: 1 }, (sql) =>
    withStoreErrors("make the role that reads", async () => {
      const [found] = await sql<{ isMirror: boolean; password: string | null }[]>`
        select to_regclass('sync.runs') is not null and to_regnamespace('report') is not null as "isMirror",
          (select rolpassword from pg_authid where rolname = ${login}) as password`;
      if (found?.isMirror !== true) return null;
      await ensureReader(sql, login, RIGHTS[login]);
      if (login === "docmirror_sql") await letBecome(sql, login, role);
      if (found.password === null) {
        await runText(sql, REVOKE_OF_ALL);
        const [made] = await sql<{ text: string }[]>`
          select format('alter role %I noinherit password %L', ${login}::text, ${password}::text) as text`;
        await runText(sql, made?.text ?? "");
      }
      return Object.assign(url, { username: login, password }).href;
    }),
  );
}

/** Makes a reader where it is not there, or lacks a right. Tells whether it did. */
export async function ensureReader(sql: Sql, role = READER, options: ReaderOptions = {}): Promise<boolean> {
  if (await isReader(sql, role, options)) return false;
  try {
    await grantReader(sql, await planReaderGrant(sql, role, options));
    return true;
  } catch (error) {
    // Another command may have made it meanwhile.
    if (await isReader(sql, role, options)) return false;
    throw error;
  }
}

/** The login of a statement has no rights but those of a reader, so that it gains none by going back to itself. */
async function letBecome(sql: Sql, login: ReaderLogin, role: string): Promise<void> {
  if (role === READER) await ensureReader(sql);
  const [rights] = await sql<{ more: boolean; isMember: boolean; grant: string }[]>`
    select rolsuper or has_schema_privilege(oid, 'rollup', 'usage') as more, pg_has_role(${login}, oid, 'member') as "isMember",
      format('grant %I to %I', rolname, ${login}::text) as grant
    from pg_roles where rolname = ${role}`;
  if (rights?.more) throw tooWideError(role);
  if (rights?.isMember === false) await runText(sql, rights.grant);
}
