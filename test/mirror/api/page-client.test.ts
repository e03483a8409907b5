import { describe, expect, it } from "vitest";
import { HttpStatusError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createHostPace } from "../../../src/mirror/api/host-pace.ts";
import { createPageClient } from "../../../src/mirror/api/page-client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";

function createTestPages(docsUrl: URL) {
  const clock = createFakeClock();
  const client = createPageClient({
    docsUrl,
    isPage: () => true,
    pace: createHostPace({ ratePerSecond: 0, clock }),
    ratePerSecond: 0,
    concurrency: 1,
    timeoutMs: 10_000,
    retries: 1,
    maxBodyBytes: 1024 * 1024,
    proxies: undefined,
    clock,
    log: silentLog,
    signal: new AbortController().signal,
  });
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

const NOTHING_KNOWN = { etag: null, lastModified: null };

describe("a client of pages", () => {
  it("takes a 304 as unchanged only where it asked whether the page has changed", async () => {
    await using server = await startScriptedServer([{ status: 304, body: "" }]);
    await using client = createTestPages(server.url);
    const url = new URL("/page.html", server.url);
    const expected = { kind: "unchanged" };
    expect(await client.fetchPage(url, { etag: '"1"', lastModified: null })).toMatchObject(expected);
    await expect(client.fetchPage(url, NOTHING_KNOWN)).rejects.toThrow(HttpStatusError);
  });

  it.each<[string, ScriptedReply, boolean]>([
    ["404", { status: 404 }, true],
    ["403", { status: 403 }, true],
    ["403 with Retry-After", { status: 403, headers: { "retry-after": "1" } }, false],
    ["408", { status: 408 }, false],
    ["429", { status: 429 }, false],
    ["500", { status: 500 }, false],
  ])("takes robots.txt with %s for rules that nobody has, or nobody knows", async (_, reply, isNone) => {
    await using server = await startScriptedServer([reply]);
    await using client = createTestPages(server.url);
    const reading = client.readRobots(0).catch((error: unknown) => error);
    expect(await reading).toEqual(isNone ? 0 : expect.any(HttpStatusError));
  });
});
