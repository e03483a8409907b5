import { beforeAll, describe, expect, it } from "vitest";
import { RELATIONS } from "../../../src/report/dictionary.ts";
import { hasTerminals, linesOf, runCli, startCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createReportedMirror } from "../../support/reported-mirror.ts";
import { startService } from "../../support/service.ts";
import { useDatabase } from "../../support/use-database.ts";

const mirror = useDatabase(createReportedMirror);
beforeAll(async () => {
  const { sql } = mirror;
  const long = "something went wrong in a way that takes many words to tell ".repeat(5);
  await sql`update sync.runs set status = 'partial', error = ${long} where id = 1`;
  await sql`insert into sync.quarantine (run_id, resource, record_id, reason, payload, created_at)
      values (1, 'build', '4711', ${long}, ${sql.json({ output: long })}, now())`;
});

async function printed(args: string[], databaseUrl = mirror.url) {
  const { code, stdout } = await runCli(args, {
    terminalColumns: 80,
    env: { DATABASE_URL: databaseUrl, DOCMIRROR_LOG_LEVEL: "silent", CI: "true" },
  });
  return { code, lines: linesOf(stdout) };
}

const widest = (lines: readonly string[]) => Math.max(...lines.map((line) => line.length));

describe.skipIf(!hasTerminals)("on a terminal of 80 columns", () => {
  it.each(RELATIONS)("report %s fits, and has a row", { tags: ["long", "exhaustive"] }, async (relation) => {
    const { code, lines } = await printed(["report", relation]);
    expect(code).toBe(0);
    expect(lines.length).toBeGreaterThan(1);
    expect(widest(lines)).toBeLessThanOrEqual(80);
  });

  it("report --wide has all columns", { tags: ["long"] }, async () => {
    const { lines } = await printed(["report", "failing_now", "--wide"]);
    expect(lines[0]).toMatch(/^project_id +project_slug .* error_line +reference$/);
    expect(widest(lines)).toBeGreaterThan(80);
  });

  it.each([
    ["status"],
    ["config"],
    ["migrate", "--status"],
    ["reclassify", "--dry-run"],
    ["quarantine"],
    ["explain", "build", "1"],
    ["report"],
  ])("%s %s %s fits", { tags: ["long"] }, async (...args) => {
    const { code, lines } = await printed(args);
    expect(code).toBe(0);
    expect(widest(lines)).toBeLessThanOrEqual(80);
  });

  it("status tells the errors of runs below them, whole", { tags: ["long"] }, async () => {
    const { lines } = await printed(["status"]);
    expect(lines.join(" ")).toMatch(
      /run 1: (something went wrong in a way that takes many words to tell ){5}/,
    );
  });
});

describe.skipIf(!hasTerminals)("worker", () => {
  it("shows the progress of a sync as bars on a terminal, as sync does", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase();
    await using service = await startService({ projects: 20, builds: 200 });
    await using cli = startCli(
      ["worker", "--base-url", service.url, "--rate", "0", "--sync-cron", "0 0 29 2 *", "--http-port", "0"],
      { terminalColumns: 80, env: { DATABASE_URL: database.url, NO_COLOR: "1" } },
    );
    // At the end all bars are left standing, the one of builds full.
    await cli.waitFor("stdout", /build +\[#{20}\] {2}\d+ of \d+ rows {2}.*\r\n[\s\S]*sync succeeded/);
  });
});
