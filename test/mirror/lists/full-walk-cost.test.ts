import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { estimateFullWalks } from "../../../src/mirror/lists/full-walk-cost.ts";
import { connect } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
let sql: Sql;

beforeAll(async () => {
  database = await createTestDatabase();
  sql = connect(database.url, { applicationName: "docmirror test", max: 1 });
  const counts: [number, string, number | null][] = [
    [1, "build", 10],
    [2, "build", 800_000],
    // A walk that broke off before its first page counts nothing.
    [3, "build", null],
    [2, "project", 100_000],
  ];
  for (const run of [1, 2, 3])
    await sql`
      insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host) overriding system value
      values (${run}, 'full', 'succeeded', now(), now(), 1, 'here')`;
  for (const [run, resource, count] of counts)
    await sql`
      insert into sync.walks (run_id, resource, started_at, total_count) values (${run}, ${resource}, now(), ${count})`;
});
afterAll(async () => {
  await sql.end();
  await database.dispose();
});

describe("a full walk of 900,000 records", () => {
  test("takes 30 minutes at 100 a page and 5 requests a second", async () => {
    expect(await estimateFullWalks(sql, { pageSize: 100, ratePerSecond: 5 })).toEqual({
      all: 1800,
      build: 1600,
    });
  });

  test("takes no time that counts where there is no rate", async () => {
    expect(await estimateFullWalks(sql, { pageSize: 100, ratePerSecond: 0 })).toEqual({ all: 0, build: 0 });
  });

  test("takes longer where the service gives smaller pages than it is asked for", async () => {
    const meta = JSON.stringify({ limit: 20 });
    await sql`
      insert into sync.pages (resource, seq, request, body_hash, meta, ids, loaded_at)
      values ('build', 0, '/', '\\x00', ${meta}::text::jsonb, '{}', now())`;
    expect(await estimateFullWalks(sql, { pageSize: 100, ratePerSecond: 5 })).toEqual({
      all: 8200,
      build: 8000,
    });
    await sql`delete from sync.pages`;
  });

  test("takes 100 records a page with auto, and for a list with a found size that many", async () => {
    const auto = { pageSize: "auto" as const, ratePerSecond: 5 };
    expect(await estimateFullWalks(sql, auto)).toEqual({ all: 1800, build: 1600 });
    await sql`insert into sync.service (base_url, resources, noted_at) values ('http://there.invalid', '{}', now())`;
    await sql`insert into sync.page_sizes (resource, page_size, service) values ('build', 400, true)`;
    expect(await estimateFullWalks(sql, auto)).toEqual({ all: 600, build: 400 });
    // A size that is set does not care.
    expect(await estimateFullWalks(sql, { ...auto, pageSize: 100 })).toEqual({ all: 1800, build: 1600 });
  });
});

test("a mirror without a walk has nothing to estimate by", async () => {
  await using empty = await createTestDatabase();
  const none = connect(empty.url, { applicationName: "docmirror test", max: 1 });
  expect(await estimateFullWalks(none, { pageSize: 100, ratePerSecond: 5 })).toEqual({ all: 0, build: 0 });
  await none.end();
});
