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
    expect([reply.status, reply.headers.get("cache-control"), reply.headers.get("vary")]).toEqual([
      200,
      SOME_SECONDS,
      "Accept-Encoding",
    ]);
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
    for (const [path, method] of [
      ["/api/v1/build/", "GET"],
      ["/api/v1/user/", "POST"],
      ["/api/v1/user/", "OPTIONS"],
      ["/status.json", "GET"],
    ] as const) {
      const reply = await app.get(path, {}, { method });
      expect([path, method, reply.headers.get("cache-control")]).toEqual([path, method, "no-store"]);
    }
  });
});
