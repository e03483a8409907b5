import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { sendRaw, serveWorld } from "./simulated-app.ts";

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
    expect(Object.fromEntries((await app.get("/")).headers)).toMatchObject({
      "content-security-policy": "style-src 'self'",
      "cross-origin-resource-policy": "same-origin",
    });
  });
});

const ALLOWED = { allowedHosts: ["mirror.example.org", "Büro.example"], origins: "*" as const };

const statusOf = (reply: string) => Number(reply.slice(9, 12));

describe("the check of the host", () => {
  it.each([
    ...["127.0.0.1", "127.0.0.1:8321", "192.0.2.7", "10.0.0.1:80", "[::1]", "[::1]:8321", "[2001:DB8::1]"],
    ...["localhost", "localhost:8321", "LocalHost", "localhost.", "localhost.:1"],
    ...["mirror.example.org", "MIRROR.example.ORG:443", "mirror.example.org.", "xn--bro-hoa.example"],
  ])("lets %s pass, for the pages and for the interface", async (host) => {
    await using app = await serveWorld({}, ALLOWED);
    expect(await sendRaw(app, "GET / HTTP/1.1", `Host: ${host}`)).toContain("a page");
    expect(statusOf(await sendRaw(app, "GET /api/v1/user/ HTTP/1.1", `Host: ${host}`))).toBe(200);
  });

  it.each([
    ...["evil.example", "evil.example:8321", "localhost.evil.example", "mirror.example.org.evil.example"],
    ...["xmirror.example.org", "127.0.0.1.evil.example", "evil.localhost", "a", "1.2.3.4.example"],
  ])("refuses %s with a sentence that names the setting", async (host) => {
    await using app = await serveWorld({}, ALLOWED);
    for (const path of ["/", "/report/runs.csv", "/api/v1/user/", "/openapi.json"]) {
      const reply = await sendRaw(app, `GET ${path} HTTP/1.1`, `Host: ${host}`);
      expect(statusOf(reply), path).toBe(421);
      expect(reply).toContain("DOCMIRROR_HTTP_ALLOWED_HOSTS lists the names that it answers for.");
      expect(reply).not.toContain(host.length > 1 ? host : "Host: a");
      expect(reply.toLowerCase()).not.toContain("access-control-allow-origin");
    }
  });

  it("lets no other header and no request line speak for the host", async () => {
    await using app = await serveWorld({}, ALLOWED);
    const forwarded = ["X-Forwarded-Host: localhost", "Forwarded: host=localhost", "X-Host: localhost"];
    for (const lines of [
      ["GET / HTTP/1.1", "Host: evil.example", ...forwarded],
      ["GET http://localhost/ HTTP/1.1", "Host: evil.example"],
      ["GET http://evil.example/ HTTP/1.1", "Host: localhost"],
    ])
      expect(statusOf(await sendRaw(app, ...lines))).toBe(421);
    const both = await sendRaw(app, "GET / HTTP/1.1", "Host: localhost", "Host: evil.example");
    expect(statusOf(both)).toBeGreaterThanOrEqual(400);
  });

  it("refuses the preflight of a page under a name of its own", async () => {
    await using app = await serveWorld({}, ALLOWED);
    const asked = ["Origin: http://evil.example", "Access-Control-Request-Method: GET"];
    const reply = await sendRaw(app, "OPTIONS /api/v1/user/ HTTP/1.1", "Host: evil.example", ...asked);
    expect(statusOf(reply)).toBe(421);
  });

  it("takes a request of HTTP/1.0 that names no host", async () => {
    await using app = await serveWorld({}, ALLOWED);
    expect(await sendRaw(app, "GET / HTTP/1.0")).toContain("a page");
  });
});

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
    expect((await app.get(LIST, {}, { method: "OPTIONS" })).headers.get("allow")).toContain("GET");
  });

  it("keeps the permission on refusals and on 304, so that a page sees them", async () => {
    const lastModified = () => Promise.reject(new Error("no"));
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
