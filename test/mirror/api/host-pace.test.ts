import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { HttpStatusError, StoppedError } from "../../../src/base/errors.ts";
import { createHostPace } from "../../../src/mirror/api/host-pace.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock, createHandClock } from "../../support/fake-clock.ts";
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

const { signal } = new AbortController();

/** The most turns that were given within any second. */
function worstSecond(times: readonly number[]): number {
  return Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + 1000).length));
}

/** A pace in virtual time, whose timers fire late by what `late` says. */
function setUpTurns(ratePerSecond: number, late = () => 0) {
  const clock = createHandClock("2024-05-15T12:00:00Z");
  const sleep = (ms: number, until?: AbortSignal) => clock.sleep(ms + late(), until);
  const pace = createHostPace({ ratePerSecond, clock: { now: clock.now, sleep } });
  /** Takes turns, `together` at a time. Gives the moment of each in milliseconds. */
  async function take(count: number, { together = 1, inFlight = 1, restMs = (): number => 0 } = {}) {
    const times: number[] = [];
    const takeOne = async () => {
      await pace.turn(signal);
      times.push(clock.now().getTime());
    };
    const one = async () => {
      while (times.length < count) {
        await Promise.all(Array.from({ length: together }, takeOne));
        const ms = restMs();
        if (ms > 0) await clock.sleep(ms);
      }
    };
    const all = Promise.all(Array.from({ length: inFlight }, one));
    await clock.advance(600_000);
    await all;
    return times;
  }
  return { clock, pace, take };
}

describe("the turns of a pace", () => {
  it.each([
    ["one after another", {}],
    ["by twos, one pair after the other", { together: 2 }],
    ["from 8 at once", { inFlight: 8 }],
  ])("keep to 50 a second and use it, where they are taken %s", async (_, how) => {
    const times = await setUpTurns(50).take(150, how);
    // Two more than the rate: they may come in small groups.
    expect(worstSecond(times)).toBeLessThanOrEqual(52);
    expect((times[149] ?? Number.POSITIVE_INFINITY) - (times[0] ?? 0)).toBeLessThanOrEqual(3000);
  });

  it("make up for timers that are late", async () => {
    let timers = 0;
    const times = await setUpTurns(4, () => (timers++ % 4 === 0 ? 150 : 10)).take(80);
    expect((times[79] ?? 0) - (times[0] ?? 0)).toBeLessThanOrEqual(80 * 250);
  });

  it("make up for no time in which nobody asked", async () => {
    const { clock, take } = setUpTurns(4);
    await take(1);
    await clock.advance(10_000);
    const times = await take(4);
    expect(times.map((at) => at - (times[0] ?? 0))).toEqual([0, 250, 500, 750]);
  });

  it("are one more than the rate in a second at most, and three quarters of their distance apart", async () => {
    const ms = (most: number) => fc.array(fc.nat(most), { minLength: 1, maxLength: 20 });
    const facts = fc.record({ rate: fc.constantFrom(1, 3, 4, 12.5), late: ms(700), rests: ms(2000) });
    const inTurn = (values: readonly number[]) => {
      let place = 0;
      return () => values[place++ % values.length] ?? 0;
    };
    await fc.assert(
      fc.asyncProperty(facts, async ({ rate, late, rests }) => {
        const often = rests.map((rest) => (rest % 3 === 0 ? rest : 0));
        const times = await setUpTurns(rate, inTurn(late)).take(30, { restMs: inTurn(often) });
        expect(worstSecond(times)).toBeLessThanOrEqual(Math.ceil(rate) + 1);
        const gaps = times.slice(1).map((at, before) => at - (times[before] ?? 0));
        expect(Math.min(...gaps)).toBeGreaterThanOrEqual(Math.floor((0.75 * 1000) / rate));
      }),
      { numRuns: 40 },
    );
  });

  it("are halved by each refusal, 16 times slower at most, and come back by answers", async () => {
    const { pace, take } = setUpTurns(20);
    const msOfOne = async (turns: number) => {
      const times = await take(turns + 1);
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
    const { clock, pace, take } = setUpTurns(20);
    const stop = new AbortController();
    await pace.turn(stop.signal);
    const waiting = Array.from({ length: 200 }, () => pace.turn(stop.signal));
    stop.abort(new Error("stopped"));
    for (const turn of waiting) await expect(turn).rejects.toThrow("stopped");
    const from = clock.now().getTime();
    const [next = 0] = await take(1);
    expect(next - from).toBeLessThanOrEqual(50);
  });

  it("go on at their rate when the system's clock is set back by an hour", async () => {
    const hand = createHandClock("2024-05-15T12:00:00Z");
    let setBackMs = 0;
    const now = () => new Date(hand.now().getTime() - setBackMs);
    const pace = createHostPace({ ratePerSecond: 5, clock: { now, sleep: hand.sleep } });
    await pace.turn(signal);
    const turns = Array.from({ length: 10 }, () => pace.turn(signal).then(() => hand.now().getTime()));
    setBackMs = 3_600_000;
    const from = hand.now().getTime();
    await hand.advance(60_000);
    const waits = (await Promise.all(turns)).map((at) => at - from);
    expect(waits.at(-1)).toBeLessThanOrEqual(2000);
    expect(worstSecond(waits)).toBeLessThanOrEqual(6);
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
