import { afterAll, beforeAll } from "vitest";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";

/** A database for all tests of a file. `sql` and `url` may be used in tests, and in hooks that are declared after it. */
export function useDatabase(create: () => Promise<TestDatabase> = createTestDatabase) {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await create();
  });
  afterAll(() => database?.dispose());
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
