import { describe, expect, test } from "vitest";
import { SchemaVersionError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { migrate, migrationStatus } from "../../../src/store/migrate/migrate.ts";
import { type PreparedDatabase, prepareDatabase } from "../../../src/store/migrate/prepare.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";
import { makeNextRelease } from "../../support/next-release.ts";

const definitions = readDefinitions();
const open = (url: string, embedded = false): PreparedDatabase => ({
  url,
  describe: "a test database",
  embedded: embedded ? {} : null,
});
const stateOf = async ({ sql }: TestDatabase) => (await migrationStatus(sql, definitions)).state;

describe("a database", () => {
  test.each([
    true,
    false,
  ])("that never had our schema gets it, and is prepared again (embedded: %s)", async (embedded) => {
    await using database = await createTestDatabase({ migrated: false });
    for (let time = 0; time < 2; time++) {
      await prepareDatabase(open(database.url, embedded), definitions, silentLog);
      expect(await stateOf(database)).toBe("current");
    }
  });

  test("whose schema is newer than the program is refused", async () => {
    await using database = await createTestDatabase();
    await database.sql`insert into sync.migrations values ('0999_of_tomorrow', 'x', now(), false)`;
    const refused = prepareDatabase(open(database.url, true), definitions, silentLog);
    await expect(refused).rejects.toBeInstanceOf(SchemaVersionError);
  });

  test("of the user's own whose schema is older is left to migrate", async () => {
    await using database = await createTestDatabase();
    using next = makeNextRelease({ migration: "-- additive: nothing\nselect 1;" });
    const { prepareDatabase }: typeof import("../../../src/store/migrate/prepare.ts") = await import(
      new URL("src/store/migrate/prepare.ts", next.folder).href
    );
    const refused = prepareDatabase(open(database.url), definitions, silentLog);
    await expect(refused).rejects.toMatchObject({
      exitCode: 7,
      message: expect.stringContaining("1 of 3 migrations are missing"),
      hint: expect.stringContaining("docmirror migrate"),
    });
    expect(await stateOf(database)).toBe("current");
  });

  test("whose views are not the program's is left to migrate, or follows by itself when it is embedded", async () => {
    await using database = await createTestDatabase();
    const changed = definitions.inOrder.map((one) => ({ ...one, hash: `${one.hash}0` })).slice(0, 1);
    const other = { ...definitions, inOrder: [...changed, ...definitions.inOrder.slice(1)] };
    await expect(prepareDatabase(open(database.url), other, silentLog)).rejects.toMatchObject({
      exitCode: 7,
      hint: expect.stringContaining("docmirror migrate"),
    });
    await prepareDatabase(open(database.url, true), other, silentLog);
    await prepareDatabase(open(database.url), other, silentLog);
  });

  test("is left alone when asked to stop", async () => {
    await using database = await createTestDatabase({ migrated: false });
    const reason = new Error("stop");
    const stopped = prepareDatabase(open(database.url), definitions, silentLog, AbortSignal.abort(reason));
    await expect(stopped).rejects.toBe(reason);
    await migrate(database.url, definitions);
    expect(await stateOf(database)).toBe("current");
  });
});
