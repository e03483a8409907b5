import { randomBytes } from "node:crypto";
import { grantReader, planReaderGrant } from "../../src/report/grant-reader.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { PLANTED_SECRET } from "./planted-secret.ts";

/** A database by its URL, and its owner's connection. */
type Owned = { readonly url: string; readonly sql: Sql };

/** A name that no other test has: roles belong to the whole server. */
export const roleName = () => `docmirror_test_${randomBytes(6).toString("hex")}`;

/** A role that may log in, for its scope. `rights` are statements in which ROLE is its name. */
export async function createRole(database: Owned, rights = "") {
  const name = roleName();
  await database.sql.unsafe(`create role ${name} login; ${rights.replaceAll("ROLE", name)}`);
  return scopeOf(database, name);
}

/** A role as `grant-reader` makes it. */
export async function createReader(database: Owned, options?: Parameters<typeof planReaderGrant>[2]) {
  const name = roleName();
  await grantReader(database.sql, await planReaderGrant(database.sql, name, options));
  return scopeOf(database, name);
}

async function scopeOf({ url, sql }: Owned, name: string) {
  await sql.unsafe(`alter role ${name} password '${PLANTED_SECRET}'`);
  return {
    name,
    /** The database as this role. */
    url: Object.assign(new URL(url), { username: name, password: PLANTED_SECRET }).href,
    [Symbol.asyncDispose]: async () => void (await sql.unsafe(`drop owned by ${name}; drop role ${name}`)),
  };
}
