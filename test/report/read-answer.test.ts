import { describe, expect, it } from "vitest";
import { StoreError } from "../../src/base/errors.ts";
import { type AnswerRow, readAnswer, withSnapshot } from "../../src/report/read-answer.ts";
import { createTestDatabase } from "../support/database.ts";
import { useDatabase } from "../support/use-database.ts";

const { sql } = useDatabase(() => createTestDatabase({ migrated: false, max: 2 }));

const read = (text: string, params: (string | number)[] = [], options: { signal?: AbortSignal } = {}) =>
  withSnapshot(sql, async (tx) => {
    const batches: AnswerRow[][] = [];
    for await (const rows of readAnswer(tx, { text, params }, { ...options, batchRows: 3 }))
      batches.push(rows);
    return batches;
  });

describe("readAnswer", () => {
  it("gives all rows by batches, values as parameters", async () => {
    const text = "select n from generate_series(1, $1::int) as n where n <> $2";
    expect(await read(text, [8, 2])).toEqual([[[1], [3], [4]], [[5], [6], [7]], [[8]]]);
    expect(await read(text, [6, 0])).toHaveLength(2);
    expect(await read(text, [0, 0])).toEqual([]);
  });

  it("gives moments as ISO 8601 in UTC, whatever the session, and the rest as JSON has it", async () => {
    const [[row] = []] = await read(`
      select '2026-11-03 12:00:00.123456+02'::timestamptz, '-infinity'::timestamptz, null::timestamptz, '2026-11-03'::date,
             0.5::float8, 7::bigint, 1::int, true, '-1'::text`);
    expect(row).toEqual([
      ...["2026-11-03T10:00:00.123456Z", "-infinity", null, "2026-11-03"],
      ...[0.5, 7, 1, true, "-1"],
    ]);
  });

  it("is stopped by a signal in the middle of a statement, with its reason", async () => {
    const stop = new AbortController();
    const reason = new Error("stop it");
    const reading = read("select pg_sleep(60)", [], { signal: stop.signal });
    const isAsleep = sql`select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`;
    while ((await sql`${isAsleep}`).length === 0);
    stop.abort(reason);
    await expect(reading).rejects.toBe(reason);
  });

  it("fails, and does not end like a whole answer, when its connection is lost between two batches", async () => {
    const reading = withSnapshot(sql, async (tx) => {
      const [me] = await tx`select pg_backend_pid() as pid`;
      const statement = { text: "select generate_series(1, 9)", params: [] };
      for await (const _ of readAnswer(tx, statement, { batchRows: 3 }))
        await sql`select pg_terminate_backend(${me?.pid}, 5000)`;
    });
    await expect(reading).rejects.toBeInstanceOf(StoreError);
  });

  it("cannot write", async () => {
    const writing = withSnapshot(sql, (tx) => tx`create table t ()`);
    await expect(writing).rejects.toMatchObject({ sqlstate: "25006" });
  });
});
