import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { withSnapshot } from "../../../src/report/read-answer.ts";
import { describeSizes, findSizes, type LimitSettings } from "../../../src/report/status/sizes.ts";
import { createTestDatabase, withTestSql } from "../../support/database.ts";
import { NO_LIMIT } from "../../support/no-limit.ts";
import { createRole } from "../../support/roles.ts";
import { startService, TINY } from "../../support/service.ts";
import { syncOnce } from "../../support/sync.ts";
import { useDatabase } from "../../support/use-database.ts";

const MB = 1e6;
const mirror = useDatabase(createTestDatabase, "test");
const read = (settings: Partial<LimitSettings> = {}) =>
  withSnapshot(mirror.sql, (tx) => findSizes(tx, { ...NO_LIMIT, ...settings }));

/** Runs that ended so many days ago, each with the bytes of the database. */
async function seedNights(...nights: [daysAgo: number, bytes: number | null, kind?: string][]) {
  for (const [days, bytes, kind = "full"] of nights)
    await mirror.sql`
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, database_bytes)
      values (${kind}, 'succeeded', now(), now() - ${days}::float8 * interval '1 day', now(), 1, 'h', ${bytes})`;
}

describe("the size of a mirror", () => {
  it("is that of the database, of each schema and of the logs", async () => {
    const before = await read();
    expect(Object.keys(before.schema_bytes)).toEqual(["sync", "mirror", "report", "rollup"]);
    const sum = Object.values(before.schema_bytes).reduce((all, bytes) => all + bytes, 0);
    expect(sum).toBeGreaterThan(100_000);
    expect(before.database_bytes).toBeGreaterThan(sum);
    expect(before.logs_bytes).toBeLessThan(before.schema_bytes.mirror ?? 0);
    expect(before.logs_bytes).toBeGreaterThan(0);
  });

  it("has a growth once syncs of a month are seven days apart, whatever came before and rounds say", async () => {
    await seedNights([40, 900 * MB], [6, 100 * MB], [3, 103 * MB], [0, 106 * MB]);
    expect(await read()).toMatchObject({ growth_bytes_per_day: null, limit_bytes: null, days_left: null });
    await seedNights([10, 96 * MB], [5, null], [-3, 900 * MB], [2, 1, "watch"]);
    expect((await read()).growth_bytes_per_day).toBeCloseTo(MB, 0);
  });

  it("is full in the days that its limit and its growth leave", async () => {
    const bytes = (await read()).database_bytes ?? 0;
    await seedNights([10, bytes - 20 * MB], [0, bytes]);
    const sizes = await read({ databaseLimitBytes: bytes + 30 * MB });
    // The database has grown by what was just written.
    expect(sizes.days_left).toBeGreaterThan(14);
    expect(sizes.days_left).toBeLessThan(15.1);
    expect(describeSizes(sizes)).toMatch(
      /^the database has [\d.]+ MB of [\d.]+ MB \(sync .*\), of them [\d.]+ MB logs of builds; it grows by 2\.0 MB a day, and is full in 1[45] days$/,
    );
    const far = await read({ databaseLimitBytes: bytes + 100_000 * MB });
    expect(describeSizes(far)).toMatch(/; it grows by 2\.0 MB a day$/);
    expect((await read({ databaseLimitBytes: 1 })).days_left).toBe(0);
    await mirror.sql`update sync.runs set database_bytes = 2 * ${bytes}::bigint - database_bytes`;
    const shrinking = await read({ databaseLimitBytes: bytes + 30 * MB });
    expect(shrinking.days_left).toBeNull();
    expect(describeSizes(shrinking)).toMatch(/; it shrinks by 2\.0 MB a day$/);
  });

  it("has the disk of the embedded Postgres for its limit, and none where that is not here", async () => {
    const { bavail, bsize } = await statfs(tmpdir());
    const { limit_bytes, database_bytes } = await read({ databaseUrl: null, dataDir: tmpdir() });
    const room = (limit_bytes ?? 0) - (database_bytes ?? 0);
    expect(room / (bavail * bsize)).toBeCloseTo(1, 1);
    expect(await read({ databaseUrl: null, dataDir: "/nowhere" })).toMatchObject({ limit_bytes: null });
  });

  it("is left out where the sessions took a role that may not ask for it, as after `alter role … set role`", async () => {
    const [{ name } = { name: "" }] = await mirror.sql<{ name: string }[]>`select current_database() as name`;
    const rights = `revoke connect on database ${name} from public; grant usage on schema sync to ROLE; grant select on sync.runs to ROLE`;
    await using role = await createRole(mirror, rights);
    const sizes = await withSnapshot(mirror.sql, async (tx) => {
      await tx.unsafe(`set local role ${role.name}`);
      return findSizes(tx, { ...NO_LIMIT, databaseLimitBytes: 1 });
    });
    expect(sizes).toMatchObject({ database_bytes: null, limit_bytes: 1, days_left: null });
    expect(sizes.schema_bytes.sync).toBeGreaterThan(0);
    expect(describeSizes(sizes)).toMatch(/^the database has unknown bytes of 0\.0 MB \(/);
  });

  it("is known while a table is written anew, and leaves that table out", async () => {
    const { logs_bytes } = await read();
    expect(logs_bytes).toBeGreaterThan(0);
    await withTestSql(mirror.url, (holder) =>
      holder.begin(async (tx) => {
        await tx`lock table mirror.build_logs in access exclusive mode`;
        expect(await read()).toMatchObject({ logs_bytes: 0, database_bytes: expect.any(Number) });
      }),
    );
  });

  it("does not mind a table of another database, where copies have the same numbers", async () => {
    const { logs_bytes } = await read();
    await using copy = await createTestDatabase();
    await withTestSql(copy.url, (holder) =>
      holder.begin(async (tx) => {
        await tx`lock table mirror.build_logs in access exclusive mode`;
        expect((await read()).logs_bytes).toBe(logs_bytes);
      }),
    );
  });

  it("is noted by each sync at its end", async () => {
    await using service = await startService(TINY);
    const { error } = await syncOnce(mirror.url, new URL(service.url));
    expect(error).toBeNull();
    const [run] = await mirror.sql<{ database_bytes: number; certificate_ends_at: null }[]>`
      select database_bytes, certificate_ends_at from sync.runs`;
    expect(run?.database_bytes).toBeGreaterThan(1_000_000);
    expect(run?.certificate_ends_at).toBeNull();
  });
});
