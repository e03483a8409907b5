import { randomBytes } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import { replaceDatabase, withSql } from "../../src/db/connect.ts";
import { runCli, startCli } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { seedPages } from "../support/served-pages.ts";

const ANY_PORT = ["serve", "--http-port", "0"];
/** Port 1 answers on no machine that runs tests. */
const NOBODY = "postgres://nobody@127.0.0.1:1/none";

describe("serve", () => {
  it("prints its address, brings old figures up to date, and serves the page until a signal comes", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase();
    await seedPages(database.url);
    await withSql(database.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
      await sql`update mirror.builds set state = 'finished', success = true, record_hash = 'x' where id = '2000'`;
      await sql`insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
        values ('watch', 'succeeded', now(), now(), now(), 1, 'killed before its refresh')`;
    });
    await using cli = startCli([...ANY_PORT, "--database-url", database.url]);
    const [url] = await cli.waitFor("stdout", /^http:\/\/127\.0\.0\.1:\d+(?=\n)/);
    await cli.waitFor("stderr", /the figures are up to date/);
    const page = await (await fetch(`${url}/project/pip`)).text();
    expect(page).toContain("of 41 finished");
    const { port } = new URL(url);
    const second = await runCli(["serve", "--http-port", port, "--database-url", database.url], {});
    expect(second).toMatchObject({ code: 2, stdout: "" });
    expect(second.stderr).toContain(
      `could not listen on 127.0.0.1, port ${port}: another program listens there`,
    );
    cli.signal("SIGTERM");
    expect(await cli.ended).toMatchObject({ code: 143, stdout: `${url}\n` });
  });

  it("is up while the database is down, says so, and still stops at once", async () => {
    await using cli = startCli([...ANY_PORT, "--json", "--database-url", NOBODY]);
    const [printed] = await cli.waitFor("stdout", /\{[^}]*\}\n/);
    const { url } = JSON.parse(printed) as { url: string };
    const reply = await fetch(`${url}/`);
    expect([reply.status, await reply.text()]).toEqual([
      503,
      expect.stringContaining("The database does not answer"),
    ]);
    cli.signal("SIGINT");
    expect((await cli.ended).code).toBe(130);
  });

  it("ends where waiting cannot help", async () => {
    const none = replaceDatabase(inject("databaseServer").adminUrl, `none_${randomBytes(6).toString("hex")}`);
    const ended = await runCli([...ANY_PORT, "--database-url", none]);
    expect(ended).toMatchObject({ code: 4 });
    expect(ended.stderr).toContain("database");
  });
});
