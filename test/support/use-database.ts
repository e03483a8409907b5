import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";

/** A database without any schema of ours. */
export const emptyDatabase = (max = 1) => createTestDatabase({ migrated: false, max });

/**
 * A database for all tests of a file, or a new one for each test. `sql` and `url` may be used in tests, and in hooks that are
 * declared after it.
 */
export function useDatabase(
  create: () => Promise<TestDatabase> = createTestDatabase,
  of: "file" | "test" = "file",
) {
  const [before, after] = of === "file" ? [beforeAll, afterAll] : [beforeEach, afterEach];
  let database: TestDatabase;
  before(async () => {
    database = await create();
  });
  after(() => database?.dispose());
  const sql = new Proxy((() => {}) as unknown as Sql, {
    apply: (_target, _this, values: Parameters<Sql>) => database.sql(...values),
    get: (_target, name) => Reflect.get(database.sql, name),
  });
  return {
    sql,
    get url() {
      return database.url;
    },
  };
}
