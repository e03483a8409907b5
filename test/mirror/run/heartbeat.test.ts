import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LockedError, StoreError } from "../../../src/base/errors.ts";
import { startHeart } from "../../../src/mirror/run/heart.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function beatWith(error: Error): Promise<unknown[]> {
  const lost: unknown[] = [];
  const heart = startHeart(
    () => Promise.reject(error),
    (reason) => lost.push(reason),
  );
  await vi.advanceTimersByTimeAsync(5000);
  heart.stop();
  return lost;
}

describe("the heart of a run", () => {
  test("ends it where another run has begun", async () => {
    const error = new LockedError("another run has begun");
    expect(await beatWith(error)).toEqual([error]);
  });

  test("lets the work wait for a database that is away", async () => {
    expect(await beatWith(new StoreError("it is away"))).toEqual([]);
  });
});
