import { describe, expect, test } from "vitest";
import { StoppedError } from "../../../src/base/errors.ts";
import { createTestDatabase, withTestSql } from "../../support/database.ts";
import { startQuickWorld } from "../../support/quick-world.ts";
import { syncOnce, watchOnce } from "../../support/sync.ts";

const WORLD = { users: 5, projects: 5, versions: 5, files: 5, builds: 30 };
const MOVED = expect.stringMatching(
  /^since run 1 of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ this database was restored, copied or moved/,
);
const restored = (warnings: readonly string[] = []) => warnings.filter((text) => text.includes("restored"));

describe("a run on a copy of the database", () => {
  test("names the last run that the copy has, once", async () => {
    await using quick = await startQuickWorld(WORLD);
    expect(restored((await quick.sync()).summary.warnings)).toEqual([]);
    await using copy = await createTestDatabase({ copyOf: quick.databaseUrl });
    expect(restored((await watchOnce(copy.url, quick.baseUrl)).summary.warnings)).toEqual([MOVED]);
    expect(restored((await syncOnce(copy.url, quick.baseUrl)).summary.warnings)).toEqual([]);
    // The original is where it was.
    expect(restored((await quick.sync()).summary.warnings)).toEqual([]);
  });

  test("says so again when it was stopped before its end", async () => {
    await using quick = await startQuickWorld(WORLD);
    await quick.sync();
    await using copy = await createTestDatabase({ copyOf: quick.databaseUrl });
    const signal = AbortSignal.abort(new StoppedError("SIGTERM"));
    expect((await syncOnce(copy.url, quick.baseUrl, { signal })).summary.status).toBe("interrupted");
    const { warnings } = (await syncOnce(copy.url, quick.baseUrl)).summary;
    expect(restored(warnings)).toHaveLength(1);
  });

  test.each([
    [
      "whose server did not tell all of its place before",
      `update sync.places set place = place - 'database' || '{"database": null}'`,
    ],
    ["whose place was never stored", "delete from sync.places"],
  ])("%s tells nothing", async (_, statement) => {
    await using quick = await startQuickWorld(WORLD);
    await quick.sync();
    await using copy = await createTestDatabase({ copyOf: quick.databaseUrl });
    await withTestSql(copy.url, (sql) => sql.unsafe(statement));
    const { status, warnings } = (await syncOnce(copy.url, quick.baseUrl)).summary;
    expect({ status, restored: restored(warnings) }).toEqual({ status: "succeeded", restored: [] });
  });

  test.each(["server", "timeline", "ledger"])("is noticed at another %s", async (part) => {
    await using quick = await startQuickWorld(WORLD);
    await quick.sync();
    const { sql } = quick;
    expect(await sql`select from sync.places where place ->> ${part} ~ '^[0-9A-F]+$'`).toHaveLength(1);
    await sql`update sync.places set place = place || jsonb_build_object(${part}::text, 'another')`;
    expect(restored((await quick.sync()).summary.warnings)).toEqual([MOVED]);
  });
});
