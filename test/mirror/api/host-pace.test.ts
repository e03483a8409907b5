import { expect, it } from "vitest";
import { HttpStatusError } from "../../../src/base/errors.ts";
import { createHostPace } from "../../../src/mirror/api/host-pace.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { startScriptedServer } from "../../support/scripted-server.ts";

const asIs = { parse: (value: unknown) => value };
const refusal = (status: number) => new HttpStatusError("no", { url: "http://h/", status });

/** A pace under a clock that is set by hand, back as well as forth. */
function setUp() {
  let nowMs = Date.parse("2024-05-15T12:00:00Z");
  const clock = { now: () => new Date(nowMs), sleep: async () => {} };
  const pace = createHostPace({ ratePerSecond: 0, clock });
  const move = (ms: number) => {
    nowMs += ms;
  };
  return { pace, move, leftMs: () => pace.held()?.leftMs() ?? null };
}

it("holds nobody back before a refusal", () => {
  expect(setUp().pace.held()).toBeNull();
});

it("holds back as long as a refusal asks", () => {
  const { pace, move, leftMs } = setUp();
  pace.hold(60_000, refusal(429));
  move(20_000);
  expect(pace.held()).toMatchObject({ refusal: { status: 429 } });
  expect(leftMs()).toBe(40_000);
  move(40_001);
  expect(leftMs()).toBeNull();
});

it("keeps the hold that ends last", () => {
  const { pace, leftMs } = setUp();
  pace.hold(60_000, refusal(429));
  pace.hold(10_000, refusal(503));
  expect([leftMs(), pace.held()?.refusal.status]).toEqual([60_000, 429]);
  pace.hold(Number.POSITIVE_INFINITY, refusal(503));
  expect([leftMs(), pace.held()?.refusal.status]).toEqual([Number.POSITIVE_INFINITY, 503]);
});

it("is released by who slept through a hold, but not from another that came meanwhile", () => {
  const { pace, leftMs } = setUp();
  pace.hold(10_000, refusal(429));
  const first = pace.held();
  pace.hold(60_000, refusal(429));
  if (first) pace.release(first);
  expect(leftMs()).toBe(60_000);
  const second = pace.held();
  if (second) pace.release(second);
  expect(leftMs()).toBeNull();
});

it("holds nobody back for longer than was asked when the clock is set back", () => {
  const { pace, move, leftMs } = setUp();
  pace.hold(60_000, refusal(429));
  move(-3_600_000);
  expect(leftMs()).toBe(60_000);
});

it("ends when its time is over after the clock was set back by years", () => {
  const { pace, move, leftMs } = setUp();
  pace.hold(3_600_000, refusal(429));
  move(600_000);
  expect(leftMs()).toBe(3_000_000);
  move(-3650 * 86_400_000);
  expect(leftMs()).toBe(3_000_000);
  move(2_999_999);
  expect(leftMs()).toBe(1);
  move(2);
  expect(leftMs()).toBeNull();
});

it("keeps clients apart that come one after the other, and slow after a refusal", async () => {
  await using server = await startScriptedServer((_, { searchParams }) =>
    searchParams.has("busy") ? { status: 429, headers: { "retry-after": "0" } } : {},
  );
  const clock = createFakeClock();
  const shared = createHostPace({ ratePerSecond: 50, clock });
  const turns: number[] = [];
  const turn = (signal: AbortSignal) => shared.turn(signal).then(() => void turns.push(performance.now()));
  const pace = { ...shared, turn };
  const askBy = async (path: string) => {
    await using client = createTestClient(server.url, { clock, pace, retries: 0 });
    await client.fetchJson(path, asIs).catch(() => {});
  };
  /** Milliseconds before each of some requests, by a client of its own; together, since one that is noticed late is made up for. */
  const takeLong = async (count: number) => {
    const from = turns.at(-1) ?? performance.now();
    for (let asked = 0; asked < count; asked++) await askBy("/api/v1/");
    return (turns.at(-1) ?? 0) - from;
  };
  await askBy("/api/v1/");
  expect(await takeLong(6)).toBeGreaterThan(4 * 20);
  for (let refused = 0; refused < 3; refused++) await askBy("/api/v1/?busy");
  expect(await takeLong(4)).toBeGreaterThan(2 * 8 * 20);
});

it("lets a client ask nothing while an earlier one's Retry-After lasts", async () => {
  await using server = await startScriptedServer([{ status: 429, headers: { "retry-after": "7200" } }, {}]);
  const clock = createFakeClock();
  const pace = createHostPace({ ratePerSecond: 0, clock });
  const ask = async () => {
    await using client = createTestClient(server.url, { clock, pace });
    return await client.fetchJson("/api/v1/", asIs).catch((error: unknown) => error);
  };
  expect(await ask()).toMatchObject({ status: 429 });
  expect(await ask()).toMatchObject({
    status: 429,
    exitCode: 5,
    message: expect.stringMatching(/^the service asks .* for 2 hours, until 2024-05-15T14:00:00Z: GET /),
  });
  expect(server.requests).toHaveLength(1);
  await clock.sleep(7_100_000);
  expect(await ask()).toMatchObject({ value: {} });
  expect(clock.sleeps.slice(1)).toEqual([100_000]);
});
