import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { serveWorld } from "./simulated-app.ts";

describe("the headers for browsers", () => {
  it("forbid everything on replies of the interface, whatever their status", async () => {
    await using app = await serveWorld();
    for (const path of ["/api/v1/user/", "/api/v1/user/?limit=x", "/api/v1/nothing", "/openapi.json"]) {
      const { headers } = await app.get(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
      });
      expect(headers.get("strict-transport-security")).toBeNull();
      expect(headers.get("x-powered-by")).toBeNull();
    }
  });

  it("leave the policy of a page as the page has set it", async () => {
    const pages = new Hono().get("/", (c) =>
      c.html("a page", 200, { "content-security-policy": "style-src 'self'" }),
    );
    await using app = await serveWorld({}, { pages });
    expect((await app.get("/")).headers.get("content-security-policy")).toBe("style-src 'self'");
  });
});
