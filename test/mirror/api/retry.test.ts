import { describe, expect, it } from "vitest";
import {
  HttpStatusError,
  NetworkError,
  StoppedError,
  TimeoutError,
  UnexpectedShapeError,
} from "../../../src/base/errors.ts";
import { isRetryable, withRetries } from "../../../src/mirror/api/retry.ts";
import { createFakeClock } from "../../support/fake-clock.ts";

const FACTS = { url: "http://h/" };
const lost = new NetworkError("got no answer", FACTS);

/** Runs what always fails with the jitter's dice held at `random`. */
async function failing(error: unknown, retries: number, random: number) {
  const clock = createFakeClock();
  const told: [number, number | null][] = [];
  let attempts = 0;
  const thrown = await withRetries(
    async () => {
      attempts += 1;
      throw error;
    },
    {
      retries,
      clock,
      signal: undefined,
      random: () => random,
      onRetry: (_, attempt, waitMs) => void told.push([attempt, waitMs]),
    },
  ).catch((reason: unknown) => reason);
  return { thrown, attempts, sleeps: clock.sleeps, told };
}

describe("withRetries", () => {
  it("waits with full jitter below a ceiling that doubles up to a minute", async () => {
    const { sleeps, attempts } = await failing(lost, 10, 1);
    expect(sleeps).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(attempts).toBe(11);
    expect((await failing(lost, 3, 0)).sleeps).toEqual([0, 0, 0]);
    expect((await failing(lost, 3, 0.5)).sleeps).toEqual([250, 500, 1000]);
  });

  it("throws the last error itself and tells of every wait before it", async () => {
    const { thrown, told } = await failing(lost, 2, 1);
    expect(thrown).toBe(lost);
    expect(told).toEqual([
      [1, 500],
      [2, 1000],
    ]);
  });

  it("never repeats what no repetition mends", async () => {
    for (const error of [new Error("a bug"), new TypeError("fetch failed"), new StoppedError("SIGINT")]) {
      expect(await failing(error, 5, 0)).toEqual({ thrown: error, attempts: 1, sleeps: [], told: [] });
    }
  });

  it("gives up on a strange shape after three tries, on anything else when the tries are used up", async () => {
    const strange = new UnexpectedShapeError("no JSON", FACTS);
    expect((await failing(strange, 10, 0)).attempts).toBe(3);
    expect((await failing(strange, 1, 0)).attempts).toBe(2);
    expect((await failing(lost, 10, 0)).attempts).toBe(11);
  });

  it("does not begin once it is stopped", async () => {
    const stopped = AbortSignal.abort(new StoppedError("SIGTERM"));
    let attempts = 0;
    const run = withRetries(async () => ++attempts, {
      retries: 5,
      clock: createFakeClock(),
      signal: stopped,
      onRetry() {},
    });
    await expect(run).rejects.toBe(stopped.reason);
    expect(attempts).toBe(0);
  });
});

describe("isRetryable", () => {
  const status = (code: number, retryAfterMs?: number) =>
    new HttpStatusError("refused", { ...FACTS, status: code, retryAfterMs });

  it.each([
    [status(500), true],
    [status(503), true],
    [status(599), true],
    [status(408), true],
    [status(425), true],
    [status(429), true],
    [status(429, 300_000), true],
    [status(429, 300_001), false],
    [status(404), false],
    [status(401), false],
    [status(302), false],
    [lost, true],
    [new TimeoutError("late", FACTS), true],
    [new UnexpectedShapeError("no JSON", FACTS), true],
    [new StoppedError("SIGINT"), false],
    [new Error("a bug"), false],
    [null, false],
  ])("of %s is %s", (error, expected) => {
    expect(isRetryable(error, 1)).toBe(expected);
  });
});
