import { ConfigError } from "../errors.ts";
import { type Sql, withSql } from "./connect.ts";
import { withStoreErrors } from "./store-errors.ts";

/** What the comment on a database begins with when `docmirror demo` made its content; the service's URL follows. */
const MARK = "docmirror demo of ";

/** The simulated service that this database mirrors, or null when no demo made it. */
export async function readDemoMark(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ comment: string | null }[]>`
    select shobj_description(oid, 'pg_database') as comment from pg_database where datname = current_database()`;
  return row?.comment?.startsWith(MARK) ? row.comment.slice(MARK.length) : null;
}

/** Marks the database as a demo's, which the next demo may wipe. */
export async function writeDemoMark(sql: Sql, serviceUrl: string): Promise<void> {
  // COMMENT takes neither parameters nor expressions, so the server itself quotes what goes into it.
  const [comment] = await sql<{ statement: string }[]>`
    select format('comment on database %I is %L', current_database(), ${MARK + serviceUrl}::text) as statement`;
  if (comment) await sql.unsafe(comment.statement);
}

/**
 * Throws ConfigError when the database is a demo's and `baseUrl` is another service: the ids of the two would mix, and
 * the next demo would wipe both.
 */
export async function assertNotDemo(url: string, baseUrl: URL): Promise<void> {
  const service = await withStoreErrors("read whose mirror the database holds", () =>
    withSql(url, { applicationName: "docmirror", max: 1 }, readDemoMark),
  );
  if (service === null || new URL(service).href === baseUrl.href) return;
  throw new ConfigError(
    "this database holds the mirror that `docmirror demo` made, and the next demo will wipe it",
    {
      hint: "name a folder of its own for the real mirror, as in --data-dir .docmirror-real, or set DATABASE_URL",
    },
  );
}
