import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { createHostPace } from "../../../src/mirror/api/host-pace.ts";
import { createTestClient } from "../../support/client.ts";
import { type ScriptedServer, startScriptedServer } from "../../support/scripted-server.ts";

const asIs = { parse: (value: unknown) => value };

/**
 * A second may hold 52 (`npm run bench` measures how closely that is kept, and how much of it is used). Here other
 * tests share the machine and shift arrivals; the faults that this is to catch let 66 and 83 through.
 */
const MOST_IN_A_SECOND = 55;

/** The most requests that reached the server within any second. */
function worstSecond({ requests }: ScriptedServer): number {
  const times = requests.map(({ at }) => at);
  return Math.max(...times.map((start) => times.filter((at) => at >= start && at < start + 1000).length));
}

describe("the pace", () => {
  it("at 50 a second with 8 in flight keeps to the rate as the server sees it", {
    tags: ["long"],
  }, async () => {
    await using server = await startScriptedServer([{}]);
    await using client = createTestClient(server.url, { concurrency: 8, ratePerSecond: 50 });
    await Promise.all(Array.from({ length: 151 }, () => client.fetchJson("/api/v1/", asIs)));
    expect(worstSecond(server)).toBeLessThanOrEqual(MOST_IN_A_SECOND);
  });

  it.each([
    ["one after another", 1],
    ["by twos, one pair after the other", 2],
  ])("holds for requests that come %s", async (_, together) => {
    await using server = await startScriptedServer([{}]);
    await using client = createTestClient(server.url, { concurrency: 8, ratePerSecond: 50 });
    while (server.requests.length < 60) {
      await Promise.all(Array.from({ length: together }, () => client.fetchJson("/api/v1/", asIs)));
    }
    expect(worstSecond(server)).toBeLessThanOrEqual(MOST_IN_A_SECOND);
  });

  it.each([
    ["retries", { status: 503 }],
    ["redirects", { status: 301, headers: { location: "/api/v1/" } }],
  ])("counts %s like any other request", async (_, reply) => {
    await using server = await startScriptedServer([reply]);
    await using client = createTestClient(server.url, { ratePerSecond: 100, retries: 12 });
    while (server.requests.length < 12) await client.fetchJson("/api/v1/", asIs).catch(() => {});
    const times = server.requests.map(({ at }) => at);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan((times.length - 5) * 10);
  });

  it("is halved by each refusal, 16 times slower at most, and comes back by answers", async () => {
    const pace = createHostPace({ ratePerSecond: 200, clock: systemClock });
    const { signal } = new AbortController();
    const measure = async (turns: number) => {
      // From before the first turn: one that is noticed late is made up for by the next ones.
      const start = performance.now();
      for (let turn = 0; turn <= turns; turn++) await pace.turn(signal);
      return (performance.now() - start) / turns;
    };
    pace.slow();
    pace.slow();
    expect(await measure(10)).toBeGreaterThan(4 * 5 - 2);
    for (let more = 0; more < 20; more++) pace.slow();
    const slowest = await measure(3);
    expect(slowest).toBeGreaterThan(16 * 5 - 5);
    expect(slowest).toBeLessThan(16 * 5 * 4);
    for (let answer = 0; answer < 300; answer++) pace.ease();
    expect(await measure(40)).toBeLessThan(4 * 5);
  });

  it("takes no turn for a request that is aborted while it waits", async () => {
    const pace = createHostPace({ ratePerSecond: 20, clock: systemClock });
    const stop = new AbortController();
    await pace.turn(stop.signal);
    const waiting = Array.from({ length: 200 }, () => pace.turn(stop.signal));
    stop.abort(new Error("stopped"));
    for (const turn of waiting) await expect(turn).rejects.toThrow("stopped");
    const start = performance.now();
    await pace.turn(new AbortController().signal);
    // Their turns would take ten seconds.
    expect(performance.now() - start).toBeLessThan(5000);
  });

  it("goes on when the system's clock is set back by an hour", { tags: ["long"] }, async () => {
    const pace = createHostPace({ ratePerSecond: 5, clock: systemClock });
    const { signal } = new AbortController();
    await pace.turn(signal);
    const realNow = Date.now;
    const waiting = [pace.turn(signal), pace.turn(signal), pace.turn(signal)];
    const setBack = vi.spyOn(Date, "now").mockImplementation(() => realNow() - 3_600_000);
    try {
      await Promise.all(waiting);
    } finally {
      setBack.mockRestore();
    }
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
