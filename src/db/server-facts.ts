import type { Sql } from "./connect.ts";
import { withStoreErrors } from "./store-errors.ts";

export interface ServerFacts {
  /** As the server names it, as in "18.1". */
  version: string;
  /** As in 180001. */
  number: number;
  encoding: string;
  user: string;
  /** A standby, or sessions that the server, the database or the role makes read-only. */
  isReadOnly: boolean;
}

/** Which server this is and who we are to it. Throws StoreError when it cannot be reached. */
export async function readServerFacts(sql: Sql): Promise<ServerFacts> {
  const [facts] = await withStoreErrors(
    "connect to the database",
    () => sql<ServerFacts[]>`
      select current_setting('server_version') as version,
             current_setting('server_version_num')::int as number,
             current_setting('server_encoding') as encoding,
             current_user::text as user,
             pg_is_in_recovery() or current_setting('transaction_read_only')::bool as "isReadOnly"`,
  );
  if (facts === undefined) throw new Error("a select without a table gave no row");
  return facts;
}
