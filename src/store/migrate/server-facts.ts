import type { Sql } from "../connection/connect.ts";
import { withStoreErrors } from "../connection/store-errors.ts";

export interface ServerFacts {
  /** The version as the server writes it, such as "18.1". */
  version: string;
  /** Such as 180001. */
  number: number;
  encoding: string;
  user: string;
  /** True on a standby, and where the server, the database or the role makes sessions read-only. */
  isReadOnly: boolean;
}

/** Facts about the server and our role. Throws StoreError when the server cannot be reached. */
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
