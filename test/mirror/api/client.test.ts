import { createHash } from "node:crypto";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import {
  HttpStatusError,
  NetworkError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
} from "../../../src/base/errors.ts";
import { readVersion } from "../../../src/base/version.ts";
import type { ClientOptions } from "../../../src/mirror/api/client.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock, createHandClock } from "../../support/fake-clock.ts";
import { type Script, type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";

const hashOf = (text: string) => createHash("sha256").update(`utf-8:${text}`).digest("hex");
const asIs = { parse: (value: unknown) => value };

/** What one fetch came to: its reply or its error, the requests the server saw, and the waits between them. */
async function fetchOnce(script: Script, options: Partial<ClientOptions> = {}, path = "/api/v1/user/") {
  await using server = await startScriptedServer(script);
  const clock = createFakeClock();
  await using client = createTestClient(server.url, { clock, ...options });
  const [settled] = await Promise.allSettled([client.fetchJson(path, asIs)]);
  return {
    reply: settled?.status === "fulfilled" ? settled.value : null,
    error: settled?.status === "rejected" ? (settled.reason as UpstreamError) : null,
    requests: server.requests,
    count: server.requests.length,
    sleeps: clock.sleeps,
    stats: client.stats(),
  };
}

describe("a request", () => {
  it("asks for JSON in header and query, for packed bodies and a connection that stays", async () => {
    const { requests } = await fetchOnce([{}], {}, "/api/v1/user/?limit=5");
    const accepts = { accept: "application/json", "accept-encoding": "gzip, br" };
    const headers = { ...accepts, connection: "keep-alive" };
    expect(requests).toMatchObject([{ method: "GET", path: "/api/v1/user/?limit=5&format=json", headers }]);
    expect(requests[0]?.headers).not.toHaveProperty("authorization");
  });

  it.each([
    [{}, `docmirror/${readVersion()}`],
    [{ contact: "ops@example.org" }, `docmirror/${readVersion()} (+ops@example.org)`],
    [{ contact: "ops@example.org", headers: { "user-agent": "ours/1" } }, "ours/1"],
  ])("says who asks: with %j", async (options, agent) => {
    const { requests } = await fetchOnce([{}], options);
    expect(requests[0]?.headers["user-agent"]).toBe(agent);
  });

  it("gives the parsed value with its hash, its size and both clocks", async () => {
    const headers = { date: "Wed, 15 May 2024 11:59:00 GMT" };
    const { reply, stats } = await fetchOnce([{ body: { id: "é" }, headers }]);
    const url = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1\/user\/\?format=json$/);
    const shown = expect.objectContaining({ "content-length": "11", date: headers.date });
    const noon = new Date("2024-05-15T12:00:00Z");
    expect(reply).toEqual({
      url,
      value: { id: "é" },
      hash: hashOf('{"id":"é"}'),
      bytes: 11,
      reply: { url, status: 200, headers: shown, requestId: null },
      sentAt: noon,
      receivedAt: noon,
      tookMs: 0,
      serverDate: new Date("2024-05-15T11:59:00Z"),
    });
    expect(stats).toEqual({ requests: 1, bytes: 11 });
  });

  it("tells how long the service took, without our own work meanwhile", async () => {
    const clock = createFakeClock();
    await using server = await startScriptedServer(async () => {
      await clock.sleep(3000);
      // Nothing else runs in this process until it is over.
      for (const end = performance.now() + 100; performance.now() < end; );
      return { body: {} };
    });
    await using client = createTestClient(server.url, { clock });
    const { tookMs } = await client.fetchJson("/api/v1/user/", { parse: (value) => value });
    expect(tookMs).toBeGreaterThan(0);
    expect(tookMs).toBeLessThanOrEqual(2900);
  });

  it("tells when the try was sent that succeeded, and when its reply was here", async () => {
    const clock = createFakeClock();
    await using server = await startScriptedServer(async (_, { pathname }) => {
      await clock.sleep(1000);
      if (server.requests.length === 1) return { status: 500 };
      return pathname === "/api/v1/" ? { status: 302, headers: { location: "/api/v1/user/" } } : {};
    });
    await using client = createTestClient(server.url, { clock });
    const { sentAt, receivedAt } = await client.fetchJson("/api/v1/", asIs);
    expect(server.requests).toHaveLength(3);
    expect(receivedAt).toEqual(clock.now());
    expect(sentAt).toEqual(new Date(receivedAt.getTime() - 1000));
  });

  it.each([
    ["me:secret@", "me:secret"],
    ["me@", "me:"],
    [":token@", ":token"],
    ["m%40e:s%3Acret@", "m@e:s:cret"],
    ["me:100%@", "me:100%"],
    ["me:p%C3%A4ss@", "me:päss"],
  ])("below a base URL with %s carries Basic credentials that no error shows", async (userinfo, plain) => {
    await using server = await startScriptedServer([{ status: 404 }]);
    const base = server.url.href.replace("://", `://${userinfo}`);
    await using client = createTestClient(base);
    const error = await client.fetchJson("/api/v1/user/", asIs).catch((reason: UpstreamError) => reason);
    const sent = server.requests[0]?.headers.authorization ?? "";
    expect(Buffer.from(sent.replace("Basic ", ""), "base64").toString()).toBe(plain);
    expect(error).toBeInstanceOf(HttpStatusError);
    const { message, hint, url } = error as UpstreamError;
    expect(`${message} ${hint} ${url}`).not.toMatch(/@|secret|token|p%C3%A4ss/);
  });

  it("lets a bug in the parser be seen as one", async () => {
    await using server = await startScriptedServer([{}]);
    await using client = createTestClient(server.url);
    const bug = new TypeError("cannot read it");
    const parse = () => {
      throw bug;
    };
    await expect(client.fetchJson("/api/v1/user/", { parse })).rejects.toBe(bug);
    expect(server.requests).toHaveLength(1);
  });
});

describe("a status", () => {
  it.each([400, 401, 403, 404, 405, 410, 418, 304])("of %i fails at once", async (status) => {
    const { error, count, sleeps } = await fetchOnce([{ status, body: "" }]);
    expect(error).toBeInstanceOf(HttpStatusError);
    const message = expect.stringContaining(`answered ${status}`);
    const expected = { error: { status, exitCode: 5, message }, count: 1, sleeps: [] };
    expect({ error, count, sleeps }).toMatchObject(expected);
  });

  it.each([408, 425, 429, 500, 502, 503, 504])("of %i is asked again as often as told", async (status) => {
    const { error, requests, sleeps, stats } = await fetchOnce([{ status, body: "busy" }], { retries: 3 });
    expect(error).toMatchObject({ status });
    expect(requests).toHaveLength(4);
    // After 429 and 503 everyone waits, also whoever comes when this one has given up.
    expect(sleeps).toHaveLength(status === 429 || status === 503 ? 4 : 3);
    expect(stats).toEqual({ requests: 4, bytes: 16 });
  });

  it("is told with the first words of its body, on one line and harmless", async () => {
    const body = `<h1>\u001b[2J\nGone\u0000</h1>${"x".repeat(5000)}`;
    const { error } = await fetchOnce([{ status: 404, body }]);
    expect(error?.message).toMatch(/answered 404: <h1> \[2J Gone <\/h1>x+$/);
    expect(error?.message.length).toBeLessThan(300);
  });

  it("is told even where its body cannot be unpacked", async () => {
    const { error } = await fetchOnce([{ status: 404, body: "x", headers: { "content-encoding": "gzip" } }]);
    expect(error).toMatchObject({ status: 404 });
  });
});

describe("Retry-After", () => {
  it.each([
    ["7", 7000],
    ["0", 0],
    ["-5", 0],
    ["1.5", 1500],
    ["300", 300_000],
    ["Wed, 15 May 2024 12:00:30 GMT", 30_000],
    ["Wed, 15 May 2024 11:00:00 GMT", 0],
  ])("%s is slept through", async (value, waitMs) => {
    const headers = { "retry-after": value, date: "Wed, 15 May 2024 12:00:00 GMT" };
    const came = await fetchOnce([{ status: 429, headers }, {}]);
    expect(came).toMatchObject({ reply: {}, sleeps: [waitMs] });
  });

  it("as a date is measured on the server's own clock", async () => {
    const headers = { "retry-after": "Tue, 01 Jan 2030 00:00:10 GMT", date: "Tue, 01 Jan 2030 00:00:00 GMT" };
    const { sleeps } = await fetchOnce([{ status: 503, headers }, {}]);
    expect(sleeps).toEqual([10_000]);
  });

  it.each(["soon", "", "1 hour", "12:00"])("%j is no wait: the usual one is taken", async (value) => {
    const { error, sleeps } = await fetchOnce([{ status: 429, headers: { "retry-after": value } }, {}]);
    expect({ error, waits: sleeps.length }).toEqual({ error: null, waits: 1 });
    expect(sleeps[0]).toBeLessThanOrEqual(500);
  });

  const TOO_LONG = ["301", "86400", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"];
  it.each(TOO_LONG)("%s is too long to sleep through: the request fails at once", async (value) => {
    const came = await fetchOnce([{ status: 429, headers: { "retry-after": value } }, {}]);
    expect(came).toMatchObject({ error: { status: 429, exitCode: 5 }, count: 1, sleeps: [] });
  });
});

/** `{}` as zstd packs it. */
const ZSTD = Buffer.from("28b52ffd20021100007b7d", "hex");

describe("a body", () => {
  const text = JSON.stringify({ objects: ["x".repeat(1000)] });
  const packed = (encoding: string, body: Buffer) => ({ body, headers: { "content-encoding": encoding } });

  it.each([
    ["gzip", gzipSync(text)],
    ["x-gzip", gzipSync(text)],
    ["GZIP", gzipSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["br", brotliCompressSync(text)],
    ["identity", Buffer.from(text)],
    // Words that are no coding, alone and in lists.
    ["utf-8", Buffer.from(text)],
    ["none", Buffer.from(text)],
    ["None, UTF-8", Buffer.from(text)],
    ["utf-8, gzip", gzipSync(text)],
    ["gzip, identity", gzipSync(text)],
    ["br, gzip", gzipSync(brotliCompressSync(text))],
    ["", Buffer.from(text)],
    ["zstd", Buffer.from(text)],
  ])("in %s is unpacked; the bytes of the wire are counted", async (encoding, body) => {
    const { reply, stats } = await fetchOnce([packed(encoding, body)]);
    expect(reply).toMatchObject({ value: JSON.parse(text), bytes: Buffer.byteLength(text) });
    expect(stats.bytes).toBe(body.length);
  });

  it.each<[string, ScriptedReply, string]>([
    ["an encoding that was not asked for", packed("zstd", ZSTD), "'zstd' was not requested"],
    ["more codings than anybody needs", packed("br,".repeat(5), Buffer.from("x")), "packed 5 times"],
    ["broken deflate", packed("deflate", Buffer.from("xx")), "could not be unpacked from deflate"],
    ["broken gzip", packed("gzip", gzipSync(text).subarray(0, 20)), "could not be unpacked from gzip"],
    ["no gzip at all", packed("gzip", Buffer.from(text)), "could not be unpacked from gzip"],
    [
      "HTML with 200",
      { body: "<html>Maintenance</html>", headers: { "content-type": "text/html" } },
      "no JSON: <html>Main",
    ],
    ["truncated JSON", { body: '{"objects": [' }, 'no JSON: {"objects": ['],
    ["nothing", { body: "" }, "no JSON with an empty body"],
    ["204 without one", { status: 204, body: "" }, "no JSON with an empty body (status 204)"],
  ])("with %s is tried three times, then no such interface", async (_, reply, words) => {
    const { error, count } = await fetchOnce([reply], { retries: 9 });
    expect(error).toBeInstanceOf(UnexpectedShapeError);
    expect(error).toMatchObject({ exitCode: 6, message: expect.stringContaining(words) });
    expect(count).toBe(3);
  });

  it.each<[string, ScriptedReply]>([
    ["by its Content-Length", { body: "x".repeat(2000) }],
    ["without Content-Length", { body: "x".repeat(2000), chunked: true }],
    ["once it is unpacked", packed("gzip", gzipSync("x".repeat(2000)))],
    ["once it is unpacked from br", packed("br", brotliCompressSync("x".repeat(2000)))],
  ])("too long %s is refused and not asked for again", async (_, reply) => {
    const { error, count } = await fetchOnce([reply], { maxBodyBytes: 1000 });
    expect(error).toBeInstanceOf(UnexpectedShapeError);
    expect(error?.message).toMatch(/longer than 1000 bytes/);
    expect(error?.hint).toContain("DOCMIRROR_MAX_BODY_MB");
    expect(count).toBe(1);
  });

  it("that is small and unpacks to a thousand times of it is refused at the bound", {
    tags: ["long"],
  }, async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, " "));
    const { error, stats } = await fetchOnce([packed("gzip", bomb)], { maxBodyBytes: 1024 * 1024 });
    expect(stats.bytes).toBe(bomb.length);
    expect(error?.message).toContain("the unpacked body is longer than 1048576 bytes");
  });

  it("of just the allowed length is taken", async () => {
    const { reply } = await fetchOnce([{ body: `"${"x".repeat(998)}"` }], { maxBodyBytes: 1000 });
    expect(reply?.bytes).toBe(1000);
  });

  it("after one that was too long comes on a connection that works", async () => {
    await using server = await startScriptedServer([{ body: "x".repeat(500_000) }, { body: [1] }]);
    await using client = createTestClient(server.url, { maxBodyBytes: 1000, concurrency: 1 });
    await expect(client.fetchJson("/api/v1/user/", asIs)).rejects.toThrow("longer than");
    expect(await client.fetchJson("/api/v1/user/", asIs)).toMatchObject({ value: [1] });
  });
});

describe("the service's clock", () => {
  const aheadBy = async (script: ScriptedReply[]) => {
    await using server = await startScriptedServer(script);
    await using client = createTestClient(server.url, { retries: 0 });
    for (const _ of script) await client.fetchJson("/api/v1/user/", asIs).catch(() => {});
    return client.clockAhead();
  };
  const noon = { date: "Wed, 15 May 2024 12:00:00 GMT" };
  const later = { date: "Wed, 15 May 2024 12:05:00 GMT" };
  const ahead = { minMs: 300_000, maxMs: 301_000 };

  it.each<[string, ScriptedReply[], unknown]>([
    ["is known from a reply", [{ headers: noon }], { minMs: 0, maxMs: 1000 }],
    ["is told by a refusal too", [{ status: 404, headers: later }], ahead],
    ["is known from a reply that cannot be used", [{ body: "<html>", headers: later }], ahead],
    ["is the latest when it was set meanwhile", [{ headers: noon }, { headers: later }], ahead],
    ["is not known from a reply without a date", [{}], null],
    ["is not told by a date that is none", [{ headers: { date: "12" } }], null],
    ["is not told by what lay in a cache", [{ headers: later }, { headers: { ...noon, age: "300" } }], ahead],
    ["is told by what has no age yet", [{ headers: { ...later, age: "0" } }], ahead],
  ])("%s", async (_, script, expected) => {
    expect(await aheadBy(script)).toEqual(expected);
  });
});

describe("the time of asking", () => {
  async function isEarlierBy(headers: Record<string, string>, ms: number) {
    const { reply } = await fetchOnce([{ headers, body: {} }]);
    expect(reply?.sentAt.getTime()).toBe((reply?.receivedAt.getTime() ?? 0) - ms);
  }

  it.each([
    ["the time of sending where there is no age", {}, 0],
    ["as much earlier as the reply is old, with room for what was cut", { age: "300" }, 301_000],
    ["a year earlier at most", { age: "99999999999999999999" }, 366 * 86_400_000],
  ])("is %s", (_, headers, ms) => isEarlierBy(headers, ms));

  it.each(["soon", "-5", "1e3", "", "3600, 0"])("is the time of sending where the age is %j", (age) =>
    isEarlierBy({ age }, 0));
});

describe("the network", () => {
  it.each(["hang up", "hang up in the body"] as const)("that does %s is tried again", async (instead) => {
    const broken = { instead, body: { a: "x".repeat(100) } };
    const came = await fetchOnce([broken, broken, { body: { a: 1 } }]);
    expect(came).toMatchObject({ reply: { value: { a: 1 } }, count: 3 });
    const { error } = await fetchOnce([broken]);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error?.message).toContain("got no answer");
  });

  it("that refuses is told with its reason", async () => {
    const clock = createFakeClock();
    await using client = createTestClient("http://127.0.0.1:1", { clock });
    const error = await client.fetchJson("/api/v1/user/", asIs).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NetworkError);
    const message = expect.stringContaining("ECONNREFUSED");
    const expected = { exitCode: 5, message, hint: expect.stringContaining("DOCMIRROR_BASE_URL") };
    expect(error).toMatchObject(expected);
    expect(clock.sleeps).toHaveLength(2);
  });

  it.each([
    "say nothing",
    "stall in the body",
  ] as const)("that does %s runs into the time-out", async (instead) => {
    const body = { a: "x".repeat(100) };
    const { error, count } = await fetchOnce([{ instead, body }], { timeoutMs: 500, retries: 1 });
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error?.message).toContain("within 500 ms");
    expect(count).toBe(2);
  });
});

describe("a redirect", () => {
  const to = (location: string, status = 301): ScriptedReply => ({ status, headers: { location }, body: "" });

  it.each([301, 302, 303, 307, 308])("%i within the service is followed", async (status) => {
    const moved = to("/api/v1/project/4/?a=1", status);
    const { reply, requests, stats } = await fetchOnce([moved, { body: { id: "4" } }]);
    expect(reply?.value).toEqual({ id: "4" });
    expect(requests[1]?.path).toBe("/api/v1/project/4/?a=1&format=json");
    expect(stats.requests).toBe(2);
  });

  it("is followed by an absolute and by a relative Location", async () => {
    await using server = await startScriptedServer((_, { pathname }) => {
      if (pathname === "/api/v1/a") return to(`${server.url.origin}/api/v1/b`);
      return pathname === "/api/v1/b" ? to("c/?x") : { body: JSON.stringify(pathname) };
    });
    await using client = createTestClient(server.url);
    expect((await client.fetchJson("/api/v1/a", asIs)).value).toBe("/api/v1/c/");
  });
});

describe("the tries", () => {
  it("are not used up by waiting at the gate", async () => {
    const clock = createHandClock("2024-05-15T12:00:00Z");
    let isDown = false;
    await using server = await startScriptedServer(() => (isDown ? { status: 502 } : { body: [1] }));
    const warnings: string[] = [];
    await using client = createTestClient(server.url, {
      clock,
      retries: 4,
      concurrency: 1,
      onWarning: (message) => void warnings.push(message),
    });
    await client.fetchJson("/api/v1/", asIs);
    isDown = true;
    const down = client.fetchJson("/api/v1/build/", asIs).catch((error: unknown) => error);
    while (warnings.length === 0) await clock.advance(500);
    expect(await down).toMatchObject({ status: 502 });
    isDown = false;
    const waiting = Array.from({ length: 3 }, () => client.fetchJson("/api/v1/", { ...asIs, retries: 0 }));
    await clock.advance(29_000);
    expect(server.requests).toHaveLength(7);
    await clock.advance(1000);
    expect(await Promise.all(waiting)).toHaveLength(3);
    expect(server.requests).toHaveLength(11);
    expect(warnings).toEqual([
      expect.stringMatching(/^paused all requests for 30 s after 6 failures in a row: GET .* answered 502/),
    ]);
  });
});

describe("whether the service is up", () => {
  it.each([
    ["answers its root", {}, true],
    ["refuses its root for good", { status: 403 }, true],
    ["fails at its root", { status: 504 }, false],
    ["answers out of a cache alone", { headers: { age: "60" } }, false],
  ])("is asked once: one that %s", async (_, reply, expected) => {
    await using server = await startScriptedServer([reply]);
    await using client = createTestClient(server.url, { retries: 5 });
    expect(await client.isUp()).toBe(expected);
    expect(server.requests.map(({ path }) => path)).toEqual(["/api/v1/?format=json"]);
  });
});

describe("a host that is lost", () => {
  it("ends what waits in the queue, waits for a try or comes later, all with one error", async () => {
    await using server = await startScriptedServer((_, { searchParams }) => {
      if (searchParams.has("year")) return { status: 503, headers: { "retry-after": "31536000" } };
      return searchParams.has("broken") ? { status: 502 } : { instead: "say nothing" };
    });
    const clock = createHandClock("2024-05-15T12:00:00Z");
    await using client = createTestClient(server.url, { clock, concurrency: 2 });
    const broken = client.fetchJson("/api/v1/?broken", asIs);
    const silent = client.fetchJson("/api/v1/?silent", asIs);
    const year = client.fetchJson("/api/v1/?year", asIs);
    const queued = client.fetchJson("/api/v1/?queued", asIs);
    const settled = await Promise.allSettled([broken, silent, year, queued]);
    settled.push(...(await Promise.allSettled([client.fetchJson("/api/v1/?later", asIs)])));
    const reasons = settled.map((one) => (one.status === "rejected" ? one.reason : one));
    expect(reasons[0]).toMatchObject({
      status: 503,
      exitCode: 5,
      message: expect.stringMatching(
        /^the service asks for a pause for 8760 hours; no request is sent before 2024-05-15T13:00:00Z: GET /,
      ),
      hint: expect.any(String),
    });
    expect(new Set(reasons).size).toBe(1);
    expect(server.requests).toHaveLength(3);
  });
});
