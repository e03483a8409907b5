import { describe, expect, it } from "vitest";
import { StoppedError } from "../../../src/base/errors.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { startScriptedServer } from "../../support/scripted-server.ts";

const asIs = { parse: (value: unknown) => value };
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
