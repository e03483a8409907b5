import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { serveWorld } from "./simulated-app.ts";

const SOME_SECONDS = "max-age=5, stale-while-revalidate=30";

describe("caches", () => {
  it.each([
    "/api/v1/",
    "/api/v1/build/",
    "/api/v1/build/?limit=3&offset=5",
    "/api/v1/version/?project__slug=none",
    "/api/v1/user/5/",
    "/api/v1/user/schema/",
    "/api/v1/file/search/?q=a",
    "/api/v1/file/anchor/?q=a",
    "/openapi.json",
  ])("keep %s for some seconds, and in each coding", async (path) => {
    await using app = await serveWorld();
    const reply = await app.get(path);
    expect(reply.status).toBe(200);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "cache-control": SOME_SECONDS,
      vary: "Accept-Encoding",
    });
    const same = await app.get(path, { "if-none-match": reply.headers.get("etag") ?? "" });
    expect([same.status, same.headers.get("cache-control")]).toEqual([304, SOME_SECONDS]);
  });

  it.each([
    ["/api/v1/build/?limit=x", 400],
    ["/api/v1/build/?order_by=date", 400],
    ["/api/v1/build/999999999/", 404],
    ["/api/v1/nosuch/", 404],
    ["/api/v2/docsearch/", 400],
    ["/api/v2/docsearch/?project=none&q=a", 404],
    [`/api/v1/build/?q=${"x".repeat(20_000)}`, 414],
  ])("never keep %.30s, which is %i", async (path, status) => {
    await using app = await serveWorld();
    const reply = await app.get(path);
    expect([reply.status, reply.headers.get("cache-control")]).toEqual([status, "no-store"]);
  });

  it("never keep an answer to another method, a failure, a status, a probe or a metric", async () => {
    const own = new Hono().get("/status.json", (c) => c.json({}, 200, { "cache-control": "no-store" }));
    await using app = await serveWorld({ list: () => Promise.reject(new Error("away")) }, { status: own });
    for (const asked of [
      "GET /api/v1/build/",
      "POST /api/v1/user/",
      "OPTIONS /api/v1/user/",
      "GET /status.json",
    ]) {
      const [method = "", path = ""] = asked.split(" ");
      const reply = await app.get(path, {}, { method });
      expect([asked, reply.headers.get("cache-control")]).toEqual([asked, "no-store"]);
    }
  });
});

const BUILDS = "/api/v1/build/?limit=5";

describe("an entity tag", () => {
  it("is the same for the same reply, and another for another", async () => {
    await using app = await serveWorld();
    const tagOf = async (path: string) => (await app.get(path)).headers.get("etag");
    const tag = await tagOf(BUILDS);
    expect(tag).toMatch(/^(W\/)?"[\w-]{22}"$/);
    expect(await tagOf(BUILDS)).toBe(tag);
    expect(await tagOf("/api/v1/build/?limit=6")).not.toBe(tag);
  });

  it("gives 304 without a body to a client that has it, for GET and HEAD", async () => {
    await using app = await serveWorld();
    const whole = await app.get(BUILDS);
    const etag = whole.headers.get("etag") ?? "";
    for (const method of ["GET", "HEAD"]) {
      const reply = await app.get(BUILDS, { "if-none-match": `"other", ${etag}` }, { method });
      expect([reply.status, await reply.text()]).toEqual([304, ""]);
      expect(reply.headers.get("etag")?.replace("W/", "")).toBe(etag.replace("W/", ""));
      expect(reply.headers.get("vary")).toContain("Accept-Encoding");
      expect(reply.headers.get("cache-control")).toBe(whole.headers.get("cache-control"));
      expect(reply.headers.get("content-type")).toBeNull();
    }
  });

  it("changes with the data", async () => {
    let projects = 1;
    const list = async () => ({ records: [], totalCount: projects });
    await using app = await serveWorld({ list, revision: undefined } as never);
    const first = await app.get("/api/v1/project/");
    projects++;
    const etag = first.headers.get("etag") ?? "";
    const second = await app.get("/api/v1/project/", { "if-none-match": etag });
    expect([second.status, second.headers.get("etag") === etag]).toEqual([200, false]);
  });

  it("is only on replies that have a representation", async () => {
    await using app = await serveWorld();
    for (const path of ["/api/v1/build/999999999/", "/api/v1/build/?limit=x"]) {
      const reply = await app.get(path, { "if-none-match": "*" });
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expect(reply.headers.get("etag")).toBeNull();
    }
  });

  it.each([
    [() => "", 200],
    [(tag: string) => tag, 304],
    [(tag: string) => `W/${tag}`, 304],
    [(tag: string) => `"b", W/${tag}`, 304],
    [(tag: string) => `"x,y",${tag}`, 304],
    [(tag: string) => `"b,${tag}`, 200],
    [(tag: string) => tag.slice(1, -1), 200],
    [() => '"b"', 200],
    [() => "*", 304],
    [() => " * ", 304],
  ])("is known by If-None-Match: %s gives %d", async (header, status) => {
    await using app = await serveWorld();
    const etag = (await app.get(BUILDS)).headers.get("etag")?.replace("W/", "") ?? "";
    expect((await app.get(BUILDS, { "if-none-match": header(etag) })).status).toBe(status);
  });
});

const MOMENT = new Date("2026-03-11T22:08:04.614Z");
const HEADER = "Wed, 11 Mar 2026 22:08:04 GMT";

describe("Last-Modified", () => {
  const lastModified = async (resource: string) => (resource === "build" ? MOMENT : undefined);

  it("is the moment of the resource's data, on its lists and details", async () => {
    await using app = await serveWorld({ lastModified });
    const dateOf = async (path: string) => (await app.get(path)).headers.get("last-modified");
    const { objects } = (await (await app.get("/api/v1/build/?limit=1")).json()) as { objects: object[] };
    expect(await dateOf("/api/v1/build/?limit=1")).toBe(HEADER);
    expect(await dateOf(String(Reflect.get(objects[0] ?? {}, "resource_uri")))).toBe(HEADER);
    for (const path of ["/api/v1/user/", "/api/v1/build/schema/", "/api/v1/build/0/", "/api/v1/"])
      expect(await dateOf(path), path).toBeNull();
  });

  it.each([
    [HEADER, 304],
    ["Wed, 11 Mar 2026 22:09:00 GMT", 304],
    ["Wed, 11 Mar 2026 22:08:03 GMT", 200],
    ["yesterday", 200],
  ])("is compared with If-Modified-Since: %s gives %d", async (since, status) => {
    await using app = await serveWorld({ lastModified });
    const reply = await app.get("/api/v1/build/", { "if-modified-since": since });
    expect(reply.status).toBe(status);
    expect(reply.headers.get("last-modified")).toBe(HEADER);
    expect(reply.headers.get("etag")).not.toBeNull();
  });

  it("counts less than an entity tag", async () => {
    await using app = await serveWorld({ lastModified });
    const headers = { "if-modified-since": HEADER, "if-none-match": '"other"' };
    expect((await app.get("/api/v1/build/", headers)).status).toBe(200);
  });

  it("is left out in the minute of a change, by the clock that dated it", async () => {
    const asked: (number | undefined)[] = [];
    const unsettled = async (_: string, settledMs?: number) => void asked.push(settledMs);
    await using app = await serveWorld({ lastModified: unsettled });
    expect((await app.get("/api/v1/build/")).headers.get("last-modified")).toBeNull();
    expect(asked).toEqual([60_000]);
  });
});
