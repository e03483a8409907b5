import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { StoreError } from "../../../src/base/errors.ts";
import { createPages } from "../../../src/page/pages.ts";
import { createKeptLines, serveWorld } from "./simulated-app.ts";

const AWAY = new StoreError("away", { sqlstate: "ECONNREFUSED" });
const LONG = new StoreError("long", { sqlstate: "57014" });
const failing = (error: Error) => ({ list: () => Promise.reject(error) });
const OWN = /^[0-9a-f]{12}$/;

describe("the id of a request", () => {
  it.each([
    ["/", 404],
    ["/api/v1/", 200],
    ["/api/v1/build/?limit=1", 200],
    ["/api/v1/nothing/", 404],
    ["/api/v1/build/?limit=x", 400],
    ["/openapi.json", 200],
    [`/api/v1/build/?x=${"x".repeat(9000)}`, 414],
  ])("is on the reply to %s, and no other has it", async (path, status) => {
    await using app = await serveWorld();
    const replies = [await app.get(path), await app.get(path)];
    expect(replies.map((reply) => reply.status)).toEqual([status, status]);
    const ids = replies.map((reply) => reply.headers.get("x-request-id"));
    expect(ids).toEqual([expect.stringMatching(OWN), expect.stringMatching(OWN)]);
    expect(ids[0]).not.toBe(ids[1]);
  });

  it("is on replies that have no body, and on refusals", async () => {
    await using app = await serveWorld();
    await using refusing = await serveWorld({}, { ratePerSecond: 0.001 });
    const first = await app.get("/api/v1/user/", {}, { method: "HEAD" });
    const etag = first.headers.get("etag") ?? "";
    const replies = [first, await app.get("/api/v1/user/", { "if-none-match": etag })];
    replies.push(await app.get("/", {}, { method: "POST", body: "x".repeat(2000) }));
    replies.push(await refusing.get("/"), await refusing.get("/"));
    expect(replies.map(({ status }) => status)).toEqual([200, 304, 413, 404, 429]);
    for (const reply of replies) expect(reply.headers.get("x-request-id")).toMatch(OWN);
  });

  it.each([
    "7f9c2e4a-1b3d-4c5e-8f60-9a8b7c6d5e4f",
    "a",
    "A_b.c-1=",
    "x".repeat(64),
  ])("is the one that was sent, such as %s", async (id) => {
    await using app = await serveWorld();
    expect((await app.get("/api/v1/", { "x-request-id": id })).headers.get("x-request-id")).toBe(id);
  });

  it.each([
    ...["", "x".repeat(65), "a b", "a,b"],
    ...['"', "<b>", "a%0d%0aset-cookie:x", "é"],
  ])("is a new one where %j was sent", async (id) => {
    const { log, lines } = createKeptLines();
    await using app = await serveWorld(failing(AWAY), {}, log);
    const reply = await app.get("/api/v1/build/", { "x-request-id": id });
    expect(reply.headers.get("x-request-id")).toMatch(OWN);
    expect(lines).toMatchObject([{ request_id: reply.headers.get("x-request-id") }]);
  });
});

describe("a request that fails", () => {
  it.each([
    ["the database does not answer", AWAY, 503, "a request could not be answered"],
    ["it takes too long", LONG, 503, "a request took the database too long"],
    ["there is a bug", new TypeError("x is not a function"), 500, "a request failed"],
  ])("has its id in the log where %s, and a body as documented", async (_case, error, status, msg) => {
    const { log, lines } = createKeptLines();
    await using app = await serveWorld(failing(error), {}, log);
    for (const method of ["GET", "HEAD"]) {
      const reply = await app.get("/api/v1/build/?limit=1", { "x-request-id": "quoted" }, { method });
      expect([reply.status, reply.headers.get("x-request-id")]).toEqual([status, "quoted"]);
      if (method === "GET") expect(Object.keys((await reply.json()) as object)).toEqual(["error"]);
    }
    const line = { msg, request_id: "quoted", path: "/api/v1/build/" };
    expect(lines).toMatchObject([line, line]);
  });

  it.each([
    ["the database is away", AWAY, 503, "a page could not be served"],
    ["there is a bug", new TypeError("x is not a function"), 500, "a page could not be made"],
  ])("shows its id to the reader of a page where %s", async (_case, error, status, msg) => {
    const { log, lines } = createKeptLines();
    const mirror = { read: () => Promise.reject(error), snapshot: () => Promise.reject(error) };
    const pages = createPages({
      mirror,
      sourceTimezone: "Etc/UTC",
      staleAfterMs: 108_000_000,
      clock: systemClock,
      log,
    });
    await using app = await serveWorld({}, { pages }, log);
    const reply = await app.get("/mirror");
    const id = reply.headers.get("x-request-id") ?? "none";
    expect(reply.status).toBe(status);
    expect(await reply.text()).toContain(`Request <code>${id}</code>`);
    expect(lines).toMatchObject([{ msg, request_id: id, path: "/mirror" }]);
  });
});

describe("a line of access", () => {
  const answered = (lines: Record<string, unknown>[]) =>
    lines.filter(({ msg }) => msg === "a request was answered");

  it("is written at level debug: what was asked without its query, and what was sent", async () => {
    const { log, lines } = createKeptLines("debug");
    await using app = await serveWorld({}, {}, log);
    const reply = await app.get("/api/v1/user/5/?token=zyx", { "accept-encoding": "identity" });
    const bytes = (await reply.arrayBuffer()).byteLength;
    await app.get("/api/v1/user/5/", {}, { method: "HEAD" });
    await expect.poll(() => answered(lines)).toHaveLength(2);
    const request_id = reply.headers.get("x-request-id");
    expect(answered(lines)).toMatchObject([
      { request_id, method: "GET", path: "/api/v1/user/5/", status: 200, bytes },
      { method: "HEAD", path: "/api/v1/user/5/", status: 200, bytes: 0 },
    ]);
    expect(answered(lines)[0]?.duration_ms).toBeGreaterThanOrEqual(0);
    expect(JSON.stringify(lines)).not.toContain("zyx");
  });

  it("counts what was sent until the reader left", async () => {
    const { log, lines } = createKeptLines("debug");
    const pull = (sink: ReadableStreamDefaultController) => sink.enqueue(new Uint8Array(65_536));
    const endless = () => new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
    await using app = await serveWorld({}, { pages: new Hono().all("*", endless) }, log);
    const reader = (await app.get("/endless")).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await expect.poll(() => answered(lines)).toHaveLength(1);
    expect(answered(lines)[0]?.bytes).toBeGreaterThanOrEqual(65_536);
  });

  it("is not written otherwise", async () => {
    const { log, lines } = createKeptLines("info");
    await using app = await serveWorld({}, {}, log);
    await (await app.get("/api/v1/user/5/")).text();
    expect(lines).toEqual([]);
  });
});
