/** @module-tag long */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { startCli } from "../support/cli.ts";
import { createDataDir } from "../support/data-dir.ts";
import { withTestSql } from "../support/database.ts";
import { PLANTED_SECRET } from "../support/planted-secret.ts";

describe("database", () => {
  it("prints its URL without the password, and says where that is", async () => {
    await using dataDir = await createDataDir();
    await using cli = startCli(["database", "--json", "--data-dir", dataDir.path]);
    await cli.waitFor("stderr", /the embedded Postgres is up/);
    const { url, passwordFile } = JSON.parse(cli.stdout());
    expect(url).toMatch(/^postgres:\/\/docmirror@127\.0\.0\.1:\d+\/docmirror$/);
    const password = readFileSync(passwordFile, "utf8").trim();
    expect(password.length).toBeGreaterThan(20);
    const logged = JSON.parse(cli.stderr().trim().split("\n").at(-1) ?? "");
    expect(logged.connect_with).toBe(`PGPASSWORD="$(cat ${passwordFile})" psql ${url}`);
    expect(cli.stdout() + cli.stderr()).not.toContain(password);
    const full = new URL(url);
    full.password = password;
    const rows = await withTestSql(full.href, (sql) => sql`select 1 as one`);
    expect(rows[0]).toEqual({ one: 1 });
    await cli.stop();
  });

  it("--with-password prints a URL that a client can use, until a signal stops it", async () => {
    await using dataDir = await createDataDir();
    {
      await using cli = startCli(["database", "--with-password", "--data-dir", dataDir.path], {
        showsSecret: true,
      });
      const [url] = await cli.waitFor("stdout", /^postgres(?:ql)?:\/\/\S+(?=\n)/);
      const rows = await withTestSql(url, (sql) => sql`select 1 as one`);
      expect(rows[0]).toEqual({ one: 1 });
      expect(await cli.stop()).toMatchObject({ code: 143, stdout: `${url}\n` });
      expect(new URL(url).password).toBe(PLANTED_SECRET);
    }
  });
});
