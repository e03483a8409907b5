import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LockedError, StoreError } from "../../../src/base/errors.ts";
import { startHeart } from "../../../src/mirror/run/with-run.ts";
import { connect } from "../../../src/store/connection/connect.ts";
import { SharedSessionError } from "../../../src/store/connection/session-pooling.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";

let sql: Sql;
beforeEach(() => {
  vi.useFakeTimers();
  // The lock comes first, so nothing is asked here.
  sql = connect("postgres://127.0.0.1:1/nobody", { applicationName: "docmirror test" });
});
afterEach(async () => {
  vi.useRealTimers();
  await sql.end();
});

async function beatWith(error: Error): Promise<unknown[]> {
  const lost: unknown[] = [];
  const lock = { hold: () => Promise.reject(error), release: async () => {} };
  const heart = startHeart(sql, 1, lock, (reason) => lost.push(reason));
  await vi.advanceTimersByTimeAsync(5000);
  heart.stop();
  return lost;
}

describe("the heart of a run", () => {
  test.each([
    new LockedError("another run has it"),
    new SharedSessionError("transaction"),
  ])("ends it with %s", async (error) => {
    expect(await beatWith(error)).toEqual([error]);
  });

  test("lets the work wait for a database that is away", async () => {
    expect(await beatWith(new StoreError("it is away"))).toEqual([]);
  });
});
