/** Row level security that somebody switches on later: a role that it binds must not take a table for an empty one. */
import { describe, expect, it } from "vitest";
import { connect } from "../../src/store/connection/connect.ts";
import { grantWorker } from "../../src/store/migrate/rights.ts";
import { runCli, startCli } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { PGBOUNCER, startPooler } from "../support/pgbouncer.ts";
import { createReader, createRole } from "../support/roles.ts";
import { seedPages } from "../support/served-pages.ts";

const ON = "alter table mirror.builds enable row level security";
const HIDDEN = /query would be affected by row-level security policy for table .*(?:builds|files).*\(42501\)/;

let asked = 0;
/** A list that nobody asked for before, since its reply is kept while the list is as it was, and a record. */
const answersOf = (url: string) =>
  Promise.all(
    [`/api/v1/build/?limit=1&offset=${asked++}`, "/api/v1/build/1001/"].map(async (path) => {
      const reply = await fetch(url + path);
      return { status: reply.status, body: await reply.text() };
    }),
  );

describe("row level security", () => {
  it("is named by doctor, with its policies, and ends other commands with exit code 4", async () => {
    await using database = await createTestDatabase();
    await seedPages(database.url);
    await using role = await createRole(database);
    await grantWorker(database.sql, role.name);
    await database.sql.unsafe(`${ON}; alter table mirror.files enable row level security;
      create policy of_one on mirror.builds using (id = '1001')`);
    const env = { DATABASE_URL: role.url };
    const doctor = await runCli(["doctor"], { env });
    expect(doctor.stdout).toContain(
      "row level security hides rows from the role in mirror.builds (of_one), mirror.files (no policy)",
    );
    expect(doctor.stdout).toContain("disable row level security");
    const status = await runCli(["status"], { env });
    expect(status.code).toBe(4);
    expect(status.stderr).toContain("row level security hides rows of mirror.builds from this role");
    expect(await runCli(["explain", "build", "1001"], { env })).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(HIDDEN),
    });
  });

  it("makes serve refuse what it would hide, and say so, until it is off again", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase();
    await seedPages(database.url);
    await using role = await createReader(database, { withInterface: true });
    await using cli = startCli(["serve", "--http-port", "0"], { env: { DATABASE_URL: role.url } });
    const [url = ""] = await cli.waitFor("stdout", /^http:\/\/127\.0\.0\.1:\d+(?=\n)/);
    await cli.waitFor("stderr", /this role only reads/);
    expect((await answersOf(url)).map(({ status }) => status)).toEqual([200, 200]);
    await database.sql.unsafe(ON);
    for (const { status, body } of await answersOf(url)) {
      expect({ status, body }).toMatchObject({ status: 503, body: expect.stringContaining("lacks a right") });
    }
    await cli.waitFor("stderr", HIDDEN);
    const isReady = async () => (await fetch(`${url}/readyz`)).json();
    await expect.poll(isReady).toMatchObject({ error: expect.stringContaining("lacks a right") });
    await database.sql`alter table mirror.builds disable row level security`;
    expect((await answersOf(url)).map(({ status }) => status)).toEqual([200, 200]);
  });

  it.skipIf(PGBOUNCER === null)(
    "is seen over a pooler that lends its sessions",
    { tags: ["long"] },
    async () => {
      await using database = await createTestDatabase();
      await seedPages(database.url);
      await using role = await createReader(database, { withInterface: true });
      await using pooler = await startPooler(role.url, { pool_mode: "transaction" });
      const env = { DATABASE_URL: pooler.url(role.url) };
      await using cli = startCli(["serve", "--http-port", "0"], { env });
      const [url = ""] = await cli.waitFor("stdout", /^http:\/\/127\.0\.0\.1:\d+(?=\n)/);
      await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
      expect((await answersOf(url)).map(({ status }) => status)).toEqual([200, 200]);
      await database.sql.unsafe(ON);
      expect((await answersOf(url)).map(({ status }) => status)).toEqual([503, 503]);
      await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503);
      const status = await runCli(["status"], { env });
      expect(status).toMatchObject({ code: 4 });
      expect(status.stderr).toContain("row level security hides rows of mirror.builds");
    },
  );

  it("that is forced binds the owner too", async () => {
    await using database = await createTestDatabase();
    await using role = await createRole(database, "create schema own authorization ROLE");
    const sql = connect(role.url, { applicationName: "docmirror test", max: 1 });
    try {
      await sql`create table own.t as select 1 as n`;
      await sql`alter table own.t enable row level security`;
      expect(await sql`select * from own.t`).toHaveLength(1);
      await sql`alter table own.t force row level security`;
      const refused = expect.objectContaining({ code: "42501", file: "rls.c" });
      await expect(sql`select * from own.t`).rejects.toEqual(refused);
    } finally {
      await sql.end();
    }
  });
});
