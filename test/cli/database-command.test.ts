import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withSql } from "../../src/db/connect.ts";
import { startCli } from "../support/cli.ts";

describe("database", () => {
  it("prints a URL that a client can use, until a signal stops it", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "docmirror-database-"));
    try {
      await using cli = startCli(["database", "--data-dir", dataDir]);
      const [url] = await cli.waitFor("stdout", /^postgres(?:ql)?:\/\/\S+(?=\n)/);
      const rows = await withSql(
        url,
        { applicationName: "docmirror test", max: 1 },
        (sql) => sql`select 1 as one`,
      );
      expect(rows[0]).toEqual({ one: 1 });
      cli.signal("SIGTERM");
      expect(await cli.ended).toMatchObject({ code: 143, stdout: `${url}\n` });
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
