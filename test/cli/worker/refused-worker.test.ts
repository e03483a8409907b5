/** @module-tag long */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { expect, inject, test } from "vitest";
import { withSql } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { pageOf, startCli } from "../../support/cli.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { createFolder } from "../../support/folder.ts";
import { startService, TINY } from "../../support/service.ts";

interface Refusal {
  /** What the worker says, on one line of its log. */
  says: RegExp;
  /** The page answers from a database that takes no writes. */
  stillReads?: true;
  refuse(sql: Sql, names: { role: string; database: string }): Promise<unknown>;
  allow(sql: Sql, names: { role: string; database: string }, passwordFile: string): Promise<unknown>;
}

const refused = (code: string) => new RegExp(`${code}[^\\n]*the database cannot be used now`);

const REFUSALS: readonly Refusal[] = [
  {
    says: refused("not currently accepting connections"),
    refuse: (sql, { database }) => sql`alter database ${sql(database)} allow_connections false`,
    allow: (sql, { database }) => sql`alter database ${sql(database)} allow_connections true`,
  },
  {
    says: refused("permission denied for database"),
    refuse: (sql, { role, database }) =>
      sql`revoke connect on database ${sql(database)} from public, ${sql(role)}`,
    allow: (sql, { role, database }) => sql`grant connect on database ${sql(database)} to ${sql(role)}`,
  },
  {
    says: /read-only transaction[^\n]*could not (?:show that this worker leads|see who leads)/,
    stillReads: true,
    refuse: (sql, { database }) =>
      sql`alter database ${sql(database)} set default_transaction_read_only = on`,
    allow: (sql, { database }) => sql`alter database ${sql(database)} reset default_transaction_read_only`,
  },
  {
    says: refused("password authentication failed"),
    refuse: (sql, { role }) => sql`alter role ${sql(role)} password 'second'`,
    allow: (_sql, _names, passwordFile) => writeFile(passwordFile, "second\n"),
  },
];

interface OwnRole {
  names: { role: string; database: string };
  /** Of its database, without the password, which is `first` and in the file. */
  url: string;
  database: TestDatabase;
  folder: string;
  passwordFile: string;
  serviceUrl: string;
  asAdmin(fn: (sql: Sql) => Promise<unknown>): Promise<unknown>;
}

async function withOwnRole(work: (own: OwnRole) => Promise<void>): Promise<void> {
  await using database = await createTestDatabase({ migrated: false });
  using folder = createFolder("docmirror-refused-");
  const passwordFile = folder.at("password");
  const role = `docmirror_role_${randomBytes(6).toString("hex")}`;
  const url = new URL(database.url);
  const names = { role, database: url.pathname.slice(1) };
  const asAdmin = (fn: (sql: Sql) => Promise<unknown>) =>
    withSql(inject("databaseServer").adminUrl, { applicationName: "docmirror test", max: 1 }, fn);
  await using service = await startService(TINY);
  try {
    await writeFile(passwordFile, "first\n", { mode: 0o600 });
    await asAdmin(async (sql) => {
      await sql`create role ${sql(role)} login password 'first'`;
      await sql`alter database ${sql(names.database)} owner to ${sql(role)}`;
    });
    url.username = role;
    url.password = "";
    const serviceUrl = service.url;
    await work({ names, url: url.href, database, folder: folder.path, passwordFile, serviceUrl, asAdmin });
  } finally {
    await database.dispose();
    await asAdmin((sql) => sql`drop role if exists ${sql(role)}`);
  }
}

const NEVER = ["--sync-cron", "0 0 29 2 *"];
const WATCHING = ["--rate", "0", "--http-port", "0", ...NEVER, "--watch-cron", "* * * * * *"];

function startWorker({ url, serviceUrl, passwordFile }: OwnRole, env: Record<string, string> = {}) {
  return startCli(["worker", ...WATCHING, "--base-url", serviceUrl, "--database-url", url], {
    env: { DOCMIRROR_DATABASE_PASSWORD_FILE: passwordFile, ...env },
  });
}

/** Makes the refusal, and ends the sessions of the role. */
function refuse({ asAdmin, names }: OwnRole, refusal: Pick<Refusal, "refuse">): Promise<unknown> {
  return asAdmin(async (sql) => {
    await refusal.refuse(sql, names);
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = ${names.role}`;
  });
}

test("a worker that its database refuses says so, waits, and goes on by itself: no connections, no right to connect, no writes, a rotated password", () =>
  withOwnRole(async (own) => {
    const { database, passwordFile, asAdmin, names } = own;
    await using cli = startWorker(own);
    const page = await pageOf(cli);
    await cli.waitFor("stderr", /sync succeeded/);
    const readyStatus = async () => (await fetch(`${page}/readyz`)).status;
    // A round that saw nothing is merged with the one before, so their number need not grow.
    const newest = async () =>
      Number((await database.sql`select max(id) as id from sync.runs where kind = 'watch'`)[0]?.id);

    for (const refusal of REFUSALS) {
      await refuse(own, refusal);
      await cli.waitFor("stderr", refusal.says);
      await expect.poll(readyStatus).toBe(refusal.stillReads ? 200 : 503);
      await asAdmin((sql) => refusal.allow(sql, names, passwordFile));
      const again = new RegExp(`${refusal.says.source}[\\s\\S]*the database answers again`);
      if (!refusal.stillReads) await cli.waitFor("stderr", again);
      await expect.poll(readyStatus).toBe(200);
      const before = await newest();
      await expect.poll(newest).toBeGreaterThan(before);
    }
    expect(cli.stderr()).not.toContain("first");
    expect((await cli.stop()).code).toBe(143);
  }));

test("a worker whose password is systemd's copy ends when it is rotated, since the next start has the new one", () =>
  withOwnRole(async (own) => {
    await using cli = startWorker(own, { CREDENTIALS_DIRECTORY: own.folder });
    await cli.waitFor("stderr", /sync succeeded/);
    await refuse(own, { refuse: (sql, { role }) => sql`alter role ${sql(role)} password 'second'` });
    const { code, stderr } = await cli.ended;
    expect({ code, stderr }).toMatchObject({ code: 4 });
    expect(stderr).toMatch(/Postgres refuses the user or the password/);
  }));
