import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { type SimulatedApp, serveWorld } from "./simulated-app.ts";

const OURS = { allowedHosts: ["mirror.example.org", "Büro.example"], origins: "*" as const };

/** Sends a request as it is written, because clients change what they send. */
async function send(app: SimulatedApp, line: string, ...headers: string[]): Promise<string> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  socket.write(`${[line, ...headers, "Connection: close"].join("\r\n")}\r\n\r\n`);
  return text(socket);
}

const statusOf = (reply: string) => Number(reply.slice(9, 12));

describe("the check of the host", () => {
  it.each([
    ...["127.0.0.1", "127.0.0.1:8321", "192.0.2.7", "10.0.0.1:80", "[::1]", "[::1]:8321", "[2001:DB8::1]"],
    ...["localhost", "localhost:8321", "LocalHost", "localhost.", "localhost.:1"],
    ...["mirror.example.org", "MIRROR.example.ORG:443", "mirror.example.org.", "xn--bro-hoa.example"],
  ])("lets %s pass, for the pages and for the interface", async (host) => {
    await using app = await serveWorld({}, OURS);
    expect(await send(app, "GET / HTTP/1.1", `Host: ${host}`)).toContain("a page");
    expect(statusOf(await send(app, "GET /api/v1/user/ HTTP/1.1", `Host: ${host}`))).toBe(200);
  });

  it.each([
    ...["evil.example", "evil.example:8321", "localhost.evil.example", "mirror.example.org.evil.example"],
    ...["xmirror.example.org", "127.0.0.1.evil.example", "evil.localhost", "a", "1.2.3.4.example"],
  ])("refuses %s with a sentence that names the setting", async (host) => {
    await using app = await serveWorld({}, OURS);
    for (const path of ["/", "/report/runs.csv", "/api/v1/user/", "/openapi.json"]) {
      const reply = await send(app, `GET ${path} HTTP/1.1`, `Host: ${host}`);
      expect(statusOf(reply), path).toBe(421);
      expect(reply).toContain("DOCMIRROR_HTTP_ALLOWED_HOSTS lists the names that it answers for.");
      expect(reply).not.toContain(host.length > 1 ? host : "Host: a");
      expect(reply.toLowerCase()).not.toContain("access-control-allow-origin");
    }
  });

  it("lets no other header and no request line speak for the host", async () => {
    await using app = await serveWorld({}, OURS);
    const forwarded = ["X-Forwarded-Host: localhost", "Forwarded: host=localhost", "X-Host: localhost"];
    expect(statusOf(await send(app, "GET / HTTP/1.1", "Host: evil.example", ...forwarded))).toBe(421);
    const named = await send(app, "GET http://localhost/ HTTP/1.1", "Host: evil.example");
    expect(statusOf(named)).toBe(421);
    const other = await send(app, "GET http://evil.example/ HTTP/1.1", "Host: localhost");
    expect(statusOf(other)).toBe(421);
    const both = await send(app, "GET / HTTP/1.1", "Host: localhost", "Host: evil.example");
    expect(statusOf(both)).toBeGreaterThanOrEqual(400);
  });

  it("refuses the preflight of a page under a name of its own", async () => {
    await using app = await serveWorld({}, OURS);
    const reply = await send(
      app,
      "OPTIONS /api/v1/user/ HTTP/1.1",
      "Host: evil.example",
      "Origin: http://evil.example",
      "Access-Control-Request-Method: GET",
    );
    expect(statusOf(reply)).toBe(421);
  });

  it("takes a request of HTTP/1.0 that names no host", async () => {
    await using app = await serveWorld({}, OURS);
    expect(await send(app, "GET / HTTP/1.0")).toContain("a page");
  });
});
