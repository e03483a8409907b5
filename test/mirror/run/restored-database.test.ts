import { beforeAll, describe, expect, test } from "vitest";
import { StoppedError } from "../../../src/base/errors.ts";
import { createTestDatabase } from "../../support/database.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { syncOnce, watchOnce } from "../../support/sync.ts";

const WORLD = { users: 5, projects: 5, versions: 5, files: 5, builds: 30 };
const MOVED = expect.stringMatching(
  /^since run 1 of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ this database was restored, copied or moved/,
);
const restored = (warnings: readonly string[] = []) => warnings.filter((text) => text.includes("restored"));

let quick: QuickWorld;
beforeAll(async () => {
  quick = await startQuickWorld(WORLD);
  expect(restored((await quick.sync()).summary.warnings)).toEqual([]);
  return () => quick[Symbol.asyncDispose]();
});
const copied = () => createTestDatabase({ copyOf: quick.databaseUrl });

describe("a run on a copy of the database", () => {
  test("names the last run that the copy has, once", async () => {
    await using copy = await copied();
    expect(restored((await watchOnce(copy.url, quick.baseUrl)).summary.warnings)).toEqual([MOVED]);
    expect(restored((await syncOnce(copy.url, quick.baseUrl)).summary.warnings)).toEqual([]);
  });

  test("says so again when it was stopped before its end", async () => {
    await using copy = await copied();
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
    await using copy = await copied();
    await copy.sql.unsafe(statement);
    const { status, warnings } = (await syncOnce(copy.url, quick.baseUrl)).summary;
    expect({ status, restored: restored(warnings) }).toEqual({ status: "succeeded", restored: [] });
  });

  test("is noticed at another server, timeline or ledger, and not where it is the same", {
    tags: ["long"],
  }, async () => {
    await using copy = await copied();
    const { sql } = copy;
    const round = async () => restored((await watchOnce(copy.url, quick.baseUrl)).summary.warnings);
    expect([await round(), await round()]).toEqual([[MOVED], []]);
    for (const part of ["server", "timeline", "ledger"]) {
      const known = await sql`select from sync.places where place ->> ${part} ~ '^[0-9A-F]+$'`;
      expect(known).not.toHaveLength(0);
      await sql`update sync.places set place = place || jsonb_build_object(${part}::text, 'another')`;
      expect(await round(), part).toHaveLength(1);
    }
  });
});
