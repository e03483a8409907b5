import { describe, expect, it } from "vitest";
import { serveWorld } from "./simulated-app.ts";

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
