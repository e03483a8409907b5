import { beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { HttpStatusError, StoppedError } from "../../../src/base/errors.ts";
import { createHostPace, type HostPace } from "../../../src/mirror/api/host-pace.ts";
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

it("keeps the hold that ends last, for an hour at most", () => {
  const { pace, leftMs } = setUp();
  pace.hold(60_000, refusal(429));
  pace.hold(10_000, refusal(503));
  expect([leftMs(), pace.held()?.refusal.status]).toEqual([60_000, 429]);
  pace.hold(Number.POSITIVE_INFINITY, refusal(503));
  expect([leftMs(), pace.held()?.refusal.status]).toEqual([3_600_000, 503]);
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

const { signal } = new AbortController();

/** Two more than the rate: a turn begins at each end of the second. */
const MOST_IN_A_SECOND = 52;

/** The most turns that were given within any second. */
function worstSecond(times: readonly number[]): number {
  return Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + 1000).length));
}

/** Takes turns, `together` at a time, in virtual time. Gives the moment of each in milliseconds. */
async function takeTurns(pace: HostPace, count: number, { together = 1, inFlight = 1 } = {}) {
  const times: number[] = [];
  const take = async () => {
    await pace.turn(signal);
    times.push(Date.now());
  };
  const one = async () => {
    while (times.length < count) await Promise.all(Array.from({ length: together }, take));
  };
  const all = Promise.all(Array.from({ length: inFlight }, one));
  await vi.advanceTimersByTimeAsync(60_000);
  await all;
  return times;
}

describe("the turns of a pace", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
    return () => vi.useRealTimers();
  });

  it.each([
    ["one after another", {}],
    ["by twos, one pair after the other", { together: 2 }],
    ["from 8 at once", { inFlight: 8 }],
  ])("keep to 50 a second and use it, where they are taken %s", async (_, how) => {
    const times = await takeTurns(createHostPace({ ratePerSecond: 50, clock: systemClock }), 150, how);
    expect(worstSecond(times)).toBeLessThanOrEqual(MOST_IN_A_SECOND);
    expect((times[149] ?? Number.POSITIVE_INFINITY) - (times[0] ?? 0)).toBeLessThanOrEqual(3000);
  });

  it("are halved by each refusal, 16 times slower at most, and come back by answers", async () => {
    const pace = createHostPace({ ratePerSecond: 20, clock: systemClock });
    const msOfOne = async (turns: number) => {
      const times = await takeTurns(pace, turns + 1);
      return ((times.at(-1) ?? 0) - (times[0] ?? 0)) / turns;
    };
    expect(await msOfOne(10)).toBe(50);
    pace.slow();
    pace.slow();
    expect(await msOfOne(10)).toBe(200);
    for (let more = 0; more < 20; more++) pace.slow();
    expect(await msOfOne(10)).toBe(800);
    for (let answer = 0; answer < 300; answer++) pace.ease();
    expect(await msOfOne(10)).toBe(50);
  });

  it("are not taken for a request that is aborted while it waits", async () => {
    const pace = createHostPace({ ratePerSecond: 20, clock: systemClock });
    const stop = new AbortController();
    await pace.turn(stop.signal);
    const waiting = Array.from({ length: 200 }, () => pace.turn(stop.signal));
    stop.abort(new Error("stopped"));
    for (const turn of waiting) await expect(turn).rejects.toThrow("stopped");
    const from = Date.now();
    const [next = 0] = await takeTurns(pace, 1);
    expect(next - from).toBeLessThanOrEqual(50);
  });

  it("go on when the system's clock is set back by an hour", async () => {
    const pace = createHostPace({ ratePerSecond: 5, clock: systemClock });
    await pace.turn(signal);
    const waiting = Promise.all([pace.turn(signal), pace.turn(signal), pace.turn(signal)]);
    vi.setSystemTime(Date.now() - 3_600_000);
    await vi.advanceTimersByTimeAsync(3000);
    await waiting;
  });
});

describe("a client", () => {
  it.each([
    ["first requests", {}],
    ["retries", { status: 503 }],
    ["redirects", { status: 301, headers: { location: "/api/v1/" } }],
  ])("takes a turn for %s, as for any other request", async (_, reply) => {
    let turns = 0;
    const pace = createHostPace({ ratePerSecond: 0, clock: systemClock });
    const counted = { ...pace, turn: async () => void turns++ };
    await using server = await startScriptedServer([reply]);
    await using client = createTestClient(server.url, { pace: counted, retries: 12 });
    while (server.requests.length < 12) await client.fetchJson("/api/v1/", asIs).catch(() => {});
    expect(turns).toBe(server.requests.length);
  });

  it("has never more in flight than the concurrency, with or without a rate", async () => {
    for (const ratePerSecond of [0, 1000]) {
      let inFlight = 0;
      let peak = 0;
      await using server = await startScriptedServer(async () => {
        peak = Math.max(peak, ++inFlight);
        await new Promise((resolve) => setImmediate(resolve));
        inFlight -= 1;
        return {};
      });
      await using client = createTestClient(server.url, { concurrency: 3, ratePerSecond });
      await Promise.all(Array.from({ length: 30 }, () => client.fetchJson("/api/v1/", asIs)));
      expect(server.requests).toHaveLength(30);
      expect(peak).toBeLessThanOrEqual(3);
    }
  });
});

const ROOT = "/api/v1/";

/** Either signal ends a request: the one for all, and the one that came with it. */
describe.each(["client", "request"])("an abort by the %s's own signal", (whose) => {
  function stoppable() {
    const stop = new AbortController();
    const reason = new StoppedError("SIGTERM");
    const of = (one: string) => (whose === one ? { signal: stop.signal } : {});
    return { abort: () => stop.abort(reason), reason, forClient: of("client"), forRequest: of("request") };
  }

  it("ends requests in flight and in the queue with its reason, and none is sent later", async () => {
    const { abort, reason, forClient, forRequest } = stoppable();
    await using server = await startScriptedServer([{ instead: "say nothing" }]);
    await using client = createTestClient(server.url, { concurrency: 2, ...forClient });
    const fetches = Array.from({ length: 6 }, () => client.fetchJson(ROOT, { ...asIs, ...forRequest }));
    await server.arrived(2);
    abort();
    const settled = await Promise.allSettled(fetches);
    expect(settled.every((one) => one.status === "rejected" && one.reason === reason)).toBe(true);
    expect(server.requests).toHaveLength(2);
  });

  it("ends a body half read", async () => {
    const { abort, reason, forClient, forRequest } = stoppable();
    const body = "x".repeat(1000);
    await using server = await startScriptedServer([{ body, instead: "stall in the body" }]);
    await using client = createTestClient(server.url, forClient);
    const fetching = client.fetchJson(ROOT, { ...asIs, ...forRequest });
    await server.arrived(1);
    abort();
    await expect(fetching).rejects.toBe(reason);
  });

  it("ends the wait for a retry", async () => {
    const { abort, reason, forClient, forRequest } = stoppable();
    await using server = await startScriptedServer([{ status: 503, headers: { "retry-after": "200" } }]);
    const clock = createFakeClock({ holds: true });
    await using client = createTestClient(server.url, { clock, ...forClient });
    const fetching = client.fetchJson(ROOT, { ...asIs, ...forRequest });
    fetching.catch(() => {});
    await clock.slept(1);
    abort();
    await expect(fetching).rejects.toBe(reason);
    expect(clock.sleeps).toEqual([200_000]);
    expect(server.requests).toHaveLength(1);
  });

  it("that came before refuses the request unsent", async () => {
    const { abort, reason, forClient, forRequest } = stoppable();
    await using server = await startScriptedServer([{}]);
    await using client = createTestClient(server.url, forClient);
    abort();
    await expect(client.fetchJson(ROOT, { ...asIs, ...forRequest })).rejects.toBe(reason);
    expect(server.requests).toEqual([]);
  });
});

describe("an abort of one request", () => {
  it("leaves the others alone", async () => {
    const stop = new AbortController();
    await using server = await startScriptedServer((_, { searchParams }) =>
      searchParams.has("stuck") ? { instead: "say nothing" } : { body: [1] },
    );
    await using client = createTestClient(server.url, { concurrency: 1 });
    const stuck = client.fetchJson(`${ROOT}?stuck`, { ...asIs, signal: stop.signal });
    const other = client.fetchJson(ROOT, asIs);
    await server.arrived(1);
    stop.abort(new StoppedError("SIGINT"));
    await expect(stuck).rejects.toBe(stop.signal.reason);
    expect(await other).toMatchObject({ value: [1] });
  });
});

describe("close", () => {
  it("ends everything under way, refuses what comes later, and may be called twice", async () => {
    await using server = await startScriptedServer([{ instead: "say nothing" }]);
    const client = createTestClient(server.url, { concurrency: 1, retries: 50 });
    const fetches = [1, 2, 3].map(() => client.fetchJson(ROOT, asIs));
    await server.arrived(1);
    const settled = Promise.allSettled(fetches);
    await Promise.all([client.close(), client.close()]);
    expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await expect(client.fetchJson(ROOT, asIs)).rejects.toThrow("closed");
    await client.close();
    expect(server.requests).toHaveLength(1);
  });

  it("does no harm to a client that never asked", async () => {
    await createTestClient("http://127.0.0.1:1").close();
  });
});
