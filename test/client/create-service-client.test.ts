import { readdirSync, readFileSync } from "node:fs";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { defaultValues } from "../../src/base/config.ts";
import { ConfigError, HttpStatusError, MirrorError } from "../../src/base/errors.ts";
import type { RetryNotice, ServiceClientOptions } from "../../src/client/client-options.ts";
import { createServiceClient } from "../../src/client/create-service-client.ts";
import { resolveOptions } from "../../src/client/resolve-options.ts";
import type { Fetch, RequestNotice } from "../../src/mirror/api/fetch.ts";
import { type Script, startScriptedServer } from "../support/scripted-server.ts";
import { wireUser } from "../support/wire-records.ts";

const META = { limit: 3, offset: 9, next: null, previous: null, total_count: 9 };
const emptyPage = { meta: META, objects: [] };
const FAULT = { status: 500, headers: { "retry-after": "0" } };
const USER = { body: wireUser("7") };
const ELSEWHERE = { status: 302, headers: { location: "http://other.invalid/api/v1/" } };
const FAST = { ratePerSecond: 0, retries: 0 };

async function start(script: Script, options: Partial<ServiceClientOptions> = {}, username = "") {
  const server = await startScriptedServer(script);
  const baseUrl = Object.assign(new URL(server.url), { username });
  const service = createServiceClient({ baseUrl, ...FAST, ...options });
  return {
    server,
    service,
    async [Symbol.asyncDispose]() {
      await service.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("createServiceClient", () => {
  it("tries a fault of the service again, after the wait that it asks for, and says so", async () => {
    const notices: RetryNotice[] = [];
    const onRetry = (notice: RetryNotice) => void notices.push(notice);
    await using own = await start([FAULT, FAULT, USER], { retries: 5, onRetry });
    expect(await own.service.fetchRecord("user", "7")).toEqual({ ...wireUser("7"), extra: {} });
    expect(notices).toMatchObject([
      { attempt: 1, waitMs: 0, error: expect.stringContaining("answered 500") },
      { attempt: 2, waitMs: 0 },
    ]);
    expect(own.service.stats().requests).toBe(3);
  });

  it("tells of each request with its status and time, and of none that was not sent", async () => {
    const notices: RequestNotice[] = [];
    const onRequest = (notice: RequestNotice) => void notices.push(notice);
    const replies = [FAULT, USER, ELSEWHERE, { instead: "hang up" }] as const;
    await using own = await start(replies, { retries: 1, onRequest }, "anna");
    await own.service.fetchRecord("user", "7");
    for (const id of ["8", "9"]) await own.service.fetchRecord("user", id, { retries: 0 }).catch(() => {});
    await own.service.fetchRecord("users" as "user", "7").catch(() => {});
    expect(notices.map(({ status }) => status)).toEqual([500, 200, ELSEWHERE.status, null]);
    expect(notices[0]).toEqual({
      url: `${own.server.url}api/v1/user/7/?format=json`,
      status: 500,
      tookMs: expect.any(Number),
    });
  });

  it("asks at an even pace", async () => {
    await using own = await start([USER], { ratePerSecond: 20 });
    const startedAt = performance.now();
    await Promise.all([1, 2, 3].map(() => own.service.fetchRecord("user", "7")));
    // Two steps of 50 ms; a timer may fire a moment early.
    expect(performance.now() - startedAt).toBeGreaterThan(90);
  });

  it("takes one signal for many calls at once, and its own one, without a warning of Node", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);
    try {
      const [all, each] = [new AbortController(), new AbortController()];
      await using own = await start([USER], { signal: all.signal });
      const ask = () => own.service.fetchRecord("user", "7", { signal: each.signal });
      await Promise.all(Array.from({ length: 12 }, ask));
      expect(warnings).toEqual([]);
    } finally {
      process.off("warning", note);
    }
  });

  it("rejects every call with the reason of its signal, and after it was closed", async () => {
    const stop = new AbortController();
    await using own = await start([{ instead: "say nothing" }], { signal: stop.signal });
    const waiting = own.service.fetchRoot();
    await own.server.arrived(1);
    stop.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(own.service.searchAnchors("x")).rejects.toThrow("enough");
    // A second time does no harm.
    await own.service.close();
  });
});

describe("a call", () => {
  it("has its own time limit, and its own number of retries, also more than the client's", async () => {
    await using own = await start([{ instead: "say nothing" }, FAULT, FAULT, {}]);
    await expect(own.service.fetchRoot({ timeoutMs: 100 })).rejects.toThrow("within 100 ms");
    await expect(own.service.fetchRecord("user", "7", { retries: 1 })).rejects.toThrow(HttpStatusError);
    expect(own.server.requests).toHaveLength(3);
  });

  it("sends its headers and those of the client, of one name its own, and not to another call", async () => {
    const headers = { From: "us", "X-Team": "docs" };
    await using own = await start([USER], { userAgent: "ours/1.2", headers }, "me");
    const { server, service } = own;
    await service.fetchRecord("user", "7", { headers: { from: "me", Authorization: "Token abcdef" } });
    await service.fetchRecord("user", "7");
    const both = { "user-agent": "ours/1.2", "x-team": "docs" };
    expect(server.requests.map((request) => request.headers)).toMatchObject([
      { ...both, from: "me", authorization: "Token abcdef" },
      { ...both, from: "us", authorization: expect.stringMatching(/^Basic /) },
    ]);
  });

  it.each([
    [{ timeoutMs: 0 }, "timeoutMs: 0 is not a whole number from 1"],
    [{ retries: 101 }, "retries: 101 is not a whole number from 0 to 100"],
    [{ headers: { "a b": "x" } }, 'headers: "a b" is no name of a header'],
    [{ headers: { Host: "x" } }, "headers: Host cannot be set"],
    [{ headers: { "Accept-Encoding": "zstd" } }, "headers: Accept-Encoding cannot be set"],
    [{ headers: { authorization: "se\ncret" } }, "headers: the value of authorization is no text"],
  ])("with %j is not made", async (options, message) => {
    await using own = await start([]);
    const list = own.service.list("user", options);
    const page = own.service.fetchPage("user", options);
    for (const making of [own.service.fetchRoot(options), page, list.next()]) {
      const error = await making.then(String, (reason: unknown) => reason);
      expect(error).toBeInstanceOf(ConfigError);
      expect(String(error)).toContain(message);
      expect(String(error)).not.toContain("cret");
    }
    expect(own.server.requests).toEqual([]);
  });

  it("gives status, headers and request id of its reply, as each page does", async () => {
    const headers = { "X-Request-Id": "r-1", "x-served-by": "a" };
    const meta = { limit: 20, offset: 0, next: null, previous: null, total_count: 1 };
    const page = { meta, objects: [wireUser("7")] };
    await using own = await start((_, { pathname }) => {
      return { body: pathname.endsWith("/user/7/") ? wireUser("7") : page, headers };
    });
    const { value, reply } = await own.service.fetchRecord("user", "7").withReply();
    expect(value.id).toBe("7");
    const described = { status: 200, requestId: "r-1", headers: { "x-served-by": "a" } };
    expect(reply).toMatchObject({ ...described, url: `${own.server.url.href}api/v1/user/7/?format=json` });
    expect((await own.service.fetchPage("user")).reply).toMatchObject(described);
    for await (const page of own.service.listPages("user")) expect(page.reply).toMatchObject(described);
  });

  it("that fails rejects once where its reply was asked for", async () => {
    await using own = await start([{ status: 400 }]);
    // Vitest fails for a rejection that nobody handles.
    await expect(own.service.fetchRoot().withReply()).rejects.toThrow(HttpStatusError);
  });

  it.each([
    ["JSON", 400, { error: "no" }, { error: "no" }],
    ["text", 502, "<h1>no</h1>", "<h1>no</h1>"],
    ["nothing", 503, "", ""],
    ["what is no JSON, with success", 200, "<h1>yes</h1>", "<h1>yes</h1>"],
    ["what is no record, with success", 200, { a: 1 }, { a: 1 }],
    ["more than is kept", 400, "x".repeat(100_000), "x".repeat(65_536)],
  ])("that is answered with %s has the reply and its body in its error", async (_, status, body, kept) => {
    await using own = await start([{ status, body, headers: { "x-request-id": "r-2" } }]);
    const error = await own.service.searchDocs({ project: "pip", q: "x" }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ reply: { status, requestId: "r-2" } });
    expect((error as HttpStatusError).body).toEqual(kept);
    // A log and a console print what is enumerable.
    expect(Object.keys(error as object)).not.toContain("body");
  });

  it("that is answered with its own login shows it nowhere", async () => {
    await using own = await start(({ headers }) => ({ status: 400, body: headers }));
    const headers = { authorization: "Token abcdef" };
    const error = await own.service.fetchRoot({ headers }).catch((reason: HttpStatusError) => reason);
    expect(error).toMatchObject({ status: 400, body: { authorization: "***" } });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("abcdef");
  });
});

describe("toArray", () => {
  const users: Script = (_, { searchParams }) => {
    const offset = Number(searchParams.get("offset") ?? 0);
    if (offset === 9) return { body: emptyPage };
    const objects = [0, 1, 2].map((place) => wireUser(String(offset + place)));
    const next = offset === 6 ? null : `/api/v1/user/?limit=3&offset=${offset + 3}`;
    return { body: { meta: { limit: 3, offset, next, previous: null, total_count: 9 }, objects } };
  };

  it.each([
    [4, 4, 2],
    [100, 9, 4],
  ])("with %i at most gives %i records in %i requests", async (max, count, requests) => {
    await using own = await start(users);
    const found = await own.service.list("user", { pageSize: 3 }).toArray({ max });
    expect(found.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, at) => String(at)));
    expect(own.server.requests).toHaveLength(requests);
  });

  it("asks for nothing without a bound", async () => {
    await using own = await start([]);
    const unbound = own.service.list("user") as unknown as { toArray(): Promise<unknown> };
    await expect(unbound.toArray()).rejects.toThrow(ConfigError);
    expect(own.server.requests).toEqual([]);
  });
});

describe("filters", () => {
  it("that are none are refused for programs without types, and go unchecked where it is said", async () => {
    await using own = await start([{ body: emptyPage }]);
    const wrong = { project_slug: "pip" } as object;
    const error = await own.service.fetchPage("build", { filters: wrong }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({
      message: "a build has no documented filter project_slug",
      hint: "it has project, state, type, project__slug; others go into otherFilters, unchecked",
    });
    expect(own.server.requests).toEqual([]);
    const otherFilters = wrong as { a?: string };
    await own.service.fetchPage("build", { filters: { state: "finished" }, otherFilters });
    expect(own.server.requests[0]?.path).toBe("/api/v1/build/?state=finished&project_slug=pip&format=json");
  });
});

describe("fetch", () => {
  it("carries the requests, packed or not, within the client's limits and redirects", async () => {
    const packed = { headers: { "content-encoding": "gzip" }, body: gzipSync(JSON.stringify(wireUser("7"))) };
    const moved = { status: 302, headers: { location: "/api/v1/user/8/" } };
    const asked: string[] = [];
    const fetch: Fetch = (url, init) => {
      asked.push(url);
      return globalThis.fetch(url, init);
    };
    await using own = await start([moved, packed], { fetch, userAgent: "ours" });
    const { server, service } = own;
    const { value, reply } = await service.fetchRecord("user", "7").withReply();
    expect([value.id, reply.status]).toEqual(["7", 200]);
    expect(asked).toEqual([7, 8].map((id) => `${server.url.href}api/v1/user/${id}/?format=json`));
    expect(server.requests[1]?.headers["user-agent"]).toBe("ours");
  });

  it.each([
    ["no answer", { instead: "say nothing" }, /not answered within 200 ms/],
    ["a connection that ends", { instead: "hang up" }, /got no answer: (?!fetch failed)/],
    ["a long body", { body: "x".repeat(2000), chunked: true }, /longer than 1000 bytes/],
    ["a redirect elsewhere", ELSEWHERE, /has moved to/],
  ] as const)("that brings %s leads to the same error as without it", async (_, script, message) => {
    const call = "instead" in script && script.instead === "say nothing" ? { timeoutMs: 200 } : {};
    for (const carrier of [{}, { fetch: globalThis.fetch }]) {
      await using own = await start([script], { maxBodyBytes: 1000, ...carrier });
      await expect(own.service.fetchRoot(call)).rejects.toThrow(message);
    }
  });

  it("may be made for tests, without a network and whatever proxies are set", async () => {
    const fetch: Fetch = async () => Response.json(wireUser("7"), { headers: { "x-request-id": "r-3" } });
    await using service = createServiceClient({ baseUrl: "http://none.invalid", fetch });
    expect((await service.fetchRecord("user", "7").withReply()).reply.requestId).toBe("r-3");
  });
});

describe("a message", () => {
  it.each([
    ["a refused login", { status: 401 }, "me", /baseUrl/],
    ["a missing right", { status: 403 }, "me", /baseUrl/],
    ["a needed login", { status: 401 }, "", /baseUrl/],
    ["a limit", { status: 429, headers: { "retry-after": "0" } }, "", /ratePerSecond/],
    ["a page of HTML", { body: "<h1>" }, "", /baseUrl/],
    ["a long body", { body: "x".repeat(2000) }, "", /raise maxBodyBytes or lower pageSize/],
    ["no answer", { instead: "hang up" }, "", /baseUrl/],
    ["another place", ELSEWHERE, "", /set baseUrl/],
    ["a wrong scheme", { status: 400, body: "The plain HTTP request was sent to HTTPS port" }, "", /baseUrl/],
  ] as const)("about %s names options, and no setting of the command", async (_, script, username, named) => {
    await using own = await start([script], { maxBodyBytes: 1000 }, username);
    const error = await own.service.fetchRoot().catch((reason: MirrorError) => reason);
    if (!(error instanceof MirrorError)) return expect.fail("it answered");
    expect(`${error.message}\n${error.hint}`).toMatch(named);
    expect(inspect(error, { depth: 9 })).not.toMatch(/DOCMIRROR_/);
  });

  it("of the requests names no setting by itself", () => {
    const folder = new URL("../../src/mirror/api/", import.meta.url);
    const all = readdirSync(folder, { recursive: true, encoding: "utf8" });
    const files = all.filter((name) => name.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(10);
    for (const name of files)
      expect(readFileSync(new URL(name, folder), "utf8"), name).not.toContain("DOCMIRROR_");
  });
});

describe("resolveOptions", () => {
  const baseUrl = "https://docs.example.org/old/";

  it("has the defaults of the settings", () => {
    const bounds = { timeoutMs: 30_000, retries: 5, maxBodyBytes: 64 * 2 ** 20 };
    const said = { ratePerSecond: 3, concurrency: 4, ...bounds };
    expect(resolveOptions({ baseUrl })).toMatchObject(said);
    expect(defaultValues()).toMatchObject(said);
  });

  it("takes the values that are given, and the base URL as text or URL", () => {
    const given = { ratePerSecond: 0.5, concurrency: 1, timeoutMs: 100, retries: 0, maxBodyBytes: 1000 };
    const resolved = { ...given, baseUrl: new URL("https://docs.example.org/old") };
    expect(resolveOptions({ baseUrl: new URL(baseUrl), ...given })).toMatchObject(resolved);
  });

  it("names every fault at once, and no password", () => {
    const wrong = { ratePerSecond: -1, retries: Number.NaN, maxBodyBytes: 0 };
    const make = () => resolveOptions({ baseUrl: "ftp://me:secret@x/", ...wrong });
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(/baseUrl: "ftp:.*; ratePerSecond: -1 .*; retries: NaN .*; maxBodyBytes: 0 /);
    expect(make).not.toThrow(/secret/);
  });

  it("takes the proxies of the environment, unless told not to", () => {
    const before = process.env.http_proxy;
    process.env.http_proxy = "http://proxy.invalid:3128";
    try {
      const proxies = { http: { value: new URL("http://proxy.invalid:3128") } };
      expect(resolveOptions({ baseUrl })).toMatchObject({ proxies });
      expect(resolveOptions({ baseUrl, useProxies: false }).proxies).toBeUndefined();
    } finally {
      if (before === undefined) delete process.env.http_proxy;
      else process.env.http_proxy = before;
    }
  });
});
