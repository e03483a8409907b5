import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readDefinitions } from "../../src/report/definitions.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";
import { pageOf, runCli, startCli } from "../support/cli.ts";
import { createDataDir } from "../support/data-dir.ts";
import { withTestSql } from "../support/database.ts";

/** How a statement may try to leave its fence. */
const ATTEMPTS = [
  "select pg_read_file('/etc/passwd')",
  "select pg_read_file('/etc/passwd') from set_config('role', 'none', true)",
  "select set_config('role', 'docmirror', true)",
  "select set_config('session_authorization', 'docmirror', true)",
  "select rolpassword from pg_authid",
  "select passwd from pg_shadow",
  "select lo_import('/etc/passwd')",
  "select lo_from_bytea(0, 'x')",
  "select username from mirror.users, set_config('role', 'docmirror_serve', true)",
];
const COMMANDS: readonly (readonly string[])[] = [
  ["status"],
  ["report", "freshness"],
  ["get", "file", "--search", "word", "--local"],
  ["explain", "build", "1"],
  ["export", "--out", "exported"],
  ["export", "--logs", "--out", "logs"],
];

it("keeps commands that only read the embedded Postgres from its files, its passwords and its superuser", {
  tags: ["long"],
}, async () => {
  await using data = await createDataDir();
  await data.withDatabase(async (url) => {
    await migrate(url, readDefinitions());
    await withTestSql(url, async (sql) => {
      await sql`alter system set log_connections = 'authorization'`;
      await sql`select pg_reload_conf()`;
    });
    const at = ["--data-dir", data.path];
    for (const attempt of ATTEMPTS) {
      const { code, stderr } = await runCli(["sql", attempt, ...at]);
      expect({ attempt, code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("permission denied"),
      });
    }
    for (const [command = "", ...args] of COMMANDS) {
      const folder = args.map((arg) => (/^(?:exported|logs)$/.test(arg) ? join(data.path, "..", arg) : arg));
      const { code, stderr } = await runCli([command, ...folder, ...at]);
      expect({ command, stderr, code }).toMatchObject({ code: command === "explain" ? 12 : 0 });
    }
    await using serving = startCli(["serve", "--http-port", "0", ...at]);
    const address = await pageOf(serving);
    await expect.poll(async () => (await fetch(address)).status).toBe(200);
    const log = await readFile(join(data.path, "postgres.log"), "utf8");
    const logins = [...log.matchAll(/user=(\w+) database=docmirror application_name=docmirror (\w+)/g)];
    const roleOf = (program: string) =>
      new Set(logins.filter(([, , name]) => name === program).map(([, role]) => role));
    expect(roleOf("status")).toEqual(new Set(["docmirror_serve"]));
    expect(roleOf("explain")).toEqual(new Set(["docmirror_serve"]));
    expect(roleOf("sql")).toContain("docmirror_sql");
    expect(roleOf("serve")).toContain("docmirror_serve");
  });
});
