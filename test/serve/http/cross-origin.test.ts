import { describe, expect, it } from "vitest";
import { serveWorld } from "./simulated-app.ts";

const OURS = "https://docs.example.org";
const LIST = "/api/v1/user/";
const PREFLIGHT = {
  "access-control-request-method": "GET",
  "access-control-request-headers": "if-none-match",
};

const corsOf = (reply: Response) =>
  Object.fromEntries([...reply.headers].filter(([name]) => name.startsWith("access-control-")));

describe("the interface across origins", () => {
  it("allows no other origin where none is set", async () => {
    await using app = await serveWorld();
    const reply = await app.get(LIST, { origin: OURS });
    expect([reply.status, corsOf(reply)]).toEqual([200, {}]);
    const preflight = await app.get(LIST, { origin: OURS, ...PREFLIGHT }, { method: "OPTIONS" });
    expect(corsOf(preflight)).toEqual({});
  });

  it("allows the origins that are set, and lets their pages read tags", async () => {
    await using app = await serveWorld({}, { origins: ["https://other.example", OURS] });
    for (const path of [LIST, "/openapi.json"]) {
      const reply = await app.get(path, { origin: OURS });
      expect(corsOf(reply)).toEqual({
        "access-control-allow-origin": OURS,
        "access-control-expose-headers": "ETag,Last-Modified,Retry-After,X-Request-Id",
      });
      expect(reply.headers.get("vary")).toMatch(/Origin/);
    }
    const stranger = await app.get(LIST, { origin: "https://docs.example.org.evil.example" });
    expect(stranger.headers.get("access-control-allow-origin")).toBeNull();
    expect(stranger.headers.get("vary")).toMatch(/Origin/);
  });

  it("answers a preflight, and leaves other OPTIONS alone", async () => {
    await using app = await serveWorld({}, { origins: "*" });
    const preflight = await app.get(LIST, { origin: OURS, ...PREFLIGHT }, { method: "OPTIONS" });
    expect(preflight.status).toBe(204);
    expect(corsOf(preflight)).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET,HEAD,OPTIONS",
      "access-control-allow-headers": "if-none-match",
    });
    const plain = await app.get(LIST, {}, { method: "OPTIONS" });
    expect(plain.headers.get("allow")).toContain("GET");
  });

  it("keeps the permission on refusals and on 304, so that a page sees them", async () => {
    const lastModified = async () => {
      throw new Error("no");
    };
    await using app = await serveWorld({}, { origins: "*" });
    await using failing = await serveWorld({ lastModified }, { origins: "*" });
    const etag = (await app.get(LIST)).headers.get("etag") ?? "";
    const replies = [
      await app.get(LIST, { origin: OURS, "if-none-match": etag }),
      await app.get(`${LIST}?limit=x`, { origin: OURS }),
      await failing.get(LIST, { origin: OURS }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([304, 400, 500]);
    for (const reply of replies) expect(reply.headers.get("access-control-allow-origin")).toBe("*");
  });

  it("is not a matter of the pages", async () => {
    await using app = await serveWorld({}, { origins: "*" });
    expect(corsOf(await app.get("/", { origin: OURS }))).toEqual({});
  });
});
