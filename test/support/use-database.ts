import { afterAll, beforeAll } from "vitest";
import { connect } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase } from "./database.ts";

/** A database for all tests of a file. `sql` and `url` may be used in tests, and in hooks that are declared after it. */
export function useDatabase(create: () => Promise<TestDatabase> = createTestDatabase, max = 1) {
  let database: TestDatabase;
  let own: Sql;
  beforeAll(async () => {
    database = await create();
    own = connect(database.url, { applicationName: "docmirror test", max });
  });
  afterAll(async () => {
    await own?.end({ timeout: 5 });
    await database?.dispose();
  });
  const sql = new Proxy((() => {}) as unknown as Sql, {
    apply: (_target, _this, values: Parameters<Sql>) => own(...values),
    get: (_target, name) => Reflect.get(own, name),
  });
  return {
    sql,
    get url() {
      return database.url;
    },
  };
}
