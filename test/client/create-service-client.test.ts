import { describe, expect, it } from "vitest";
import { HttpStatusError, UnexpectedShapeError } from "../../src/base/errors.ts";
import type { RetryNotice } from "../../src/client/client-options.ts";
import { createServiceClient } from "../../src/client/create-service-client.ts";
import { startScriptedServer } from "../support/scripted-server.ts";
import { wireUser } from "../support/wire-records.ts";

const FAULT = { status: 500, headers: { "retry-after": "0" } };

describe("createServiceClient", () => {
  it("tries a fault of the service again, after the wait that it asks for, and says so", async () => {
    await using server = await startScriptedServer([FAULT, FAULT, { body: wireUser("7") }]);
    const notices: RetryNotice[] = [];
    const onRetry = (notice: RetryNotice) => void notices.push(notice);
    await using service = createServiceClient({ baseUrl: server.url, ratePerSecond: 0, onRetry });
    expect(await service.fetchRecord("user", "7")).toEqual(wireUser("7"));
    expect(notices).toMatchObject([
      { attempt: 1, waitMs: 0, error: expect.stringContaining("answered 500") },
      { attempt: 2, waitMs: 0 },
    ]);
    expect(service.stats().requests).toBe(3);
  });

  it("gives up after its retries", async () => {
    await using server = await startScriptedServer([FAULT]);
    await using service = createServiceClient({ baseUrl: server.url.href, ratePerSecond: 0, retries: 1 });
    await expect(service.fetchRecord("user", "7")).rejects.toThrow(HttpStatusError);
    expect(server.requests).toHaveLength(2);
  });

  it("asks at an even pace", async () => {
    await using server = await startScriptedServer([{ body: wireUser("7") }]);
    await using service = createServiceClient({ baseUrl: server.url.href, ratePerSecond: 20 });
    const startedAt = performance.now();
    await Promise.all([1, 2, 3].map(() => service.fetchRecord("user", "7")));
    // Two steps of 50 ms; a timer may fire a moment early.
    expect(performance.now() - startedAt).toBeGreaterThan(90);
  });

  it("refuses a body that is longer than allowed", async () => {
    await using server = await startScriptedServer([{ body: wireUser("7") }]);
    const options = { baseUrl: server.url, ratePerSecond: 0, maxBodyBytes: 10 };
    await using service = createServiceClient(options);
    await expect(service.fetchRecord("user", "7")).rejects.toThrow(UnexpectedShapeError);
  });

  it("rejects every call with the reason of its signal, and after it was closed", async () => {
    await using server = await startScriptedServer([{ instead: "say nothing" }]);
    const stop = new AbortController();
    const service = createServiceClient({ baseUrl: server.url, ratePerSecond: 0, signal: stop.signal });
    const waiting = service.fetchRoot();
    await server.arrived(1);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(service.searchAnchors("x")).rejects.toThrow("enough");
    await service.close();
    await service.close();
  });

  it("does not follow a redirect away from the service", async () => {
    await using other = await startScriptedServer([{ body: wireUser("7") }]);
    const away = { status: 302, headers: { location: `${other.url.href}api/v1/user/7/` } };
    await using server = await startScriptedServer([away]);
    await using service = createServiceClient({ baseUrl: server.url, ratePerSecond: 0 });
    await expect(service.fetchRecord("user", "7")).rejects.toThrow(/has moved to/);
    expect(other.requests).toEqual([]);
  });
});
