import { ConfigError } from "../../base/errors.ts";
import { withSql } from "../connection/connect.ts";
import { runText } from "../connection/run-statement.ts";
import type { Sql } from "../connection/sql.ts";
import { withStoreErrors } from "../connection/store-errors.ts";

/** The comment on a database that `docmirror demo` filled begins with this. The URL of the service follows. */
const MARK = "docmirror demo of ";

/** The simulated service that this database mirrors, or null when `docmirror demo` did not fill it. */
export async function readDemoMark(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ comment: string | null }[]>`
    select shobj_description(oid, 'pg_database') as comment from pg_database where datname = current_database()`;
  return row?.comment?.startsWith(MARK) ? row.comment.slice(MARK.length) : null;
}

/** Marks the database as one of the demo. The next demo may wipe it. */
export async function writeDemoMark(sql: Sql, serviceUrl: string): Promise<void> {
  // COMMENT takes no parameters and no expressions, so the server quotes the values.
  const [comment] = await sql<{ statement: string }[]>`
    select format('comment on database %I is %L', current_database(), ${MARK + serviceUrl}::text) as statement`;
  if (comment) await runText(sql, comment.statement);
}

/** Throws ConfigError when the database is the demo's and `baseUrl` another service: ids would mix. */
export async function assertNotDemo(url: string, baseUrl: URL): Promise<void> {
  const service = await withStoreErrors("read which service the database mirrors", () =>
    withSql(url, { applicationName: "docmirror", max: 1 }, readDemoMark),
  );
  if (service === null || new URL(service).href === baseUrl.href) return;
  throw new ConfigError(
    "this database holds the mirror of `docmirror demo`, and the next demo will wipe it",
    {
      hint: "use another folder for the real mirror, such as --data-dir .docmirror-real, or set DATABASE_URL",
    },
  );
}
