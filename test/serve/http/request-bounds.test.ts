import { once } from "node:events";
import { connect } from "node:net";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { sendRaw, serveWorld, talk } from "./simulated-app.ts";

describe("the bounds of a request", () => {
  it("refuse a long body before it arrives, and close the connection", async () => {
    await using app = await serveWorld();
    for (const method of ["GET", "POST"]) {
      const head = `${method} /api/v1/user/ HTTP/1.1\r\nHost: localhost\r\n`;
      for (const length of ["Content-Length: 1000000000", "Transfer-Encoding: chunked"]) {
        const reply = await talk(app.url, `${head}${length}\r\n\r\n`);
        expect(reply).toMatch(/^HTTP\/1\.1 413 [\s\S]*^connection: close\r$/im);
        expect(reply).toMatch(/\{"error":"[^"]+"\}/);
      }
    }
  });

  it("let a short body pass, which nobody reads", async () => {
    await using app = await serveWorld();
    const json = { "content-type": "application/json" };
    expect((await app.get("/api/v1/user/", json, { method: "POST", body: "{}" })).status).toBe(405);
  });

  it("refuse each long path or query by 414, and longer headers by 431, in words", async () => {
    await using app = await serveWorld();
    const at = async (path: string) => (await app.get(path)).status;
    expect(await at(`/api/v1/project/${"x".repeat(8000)}/`)).toBe(404);
    expect(await (await app.get(`/project/${"x".repeat(8000)}`)).text()).toBe("a page");
    for (const path of ["/api/v1/project/", "/project/", "/livez?", "/metrics?", "/api/v1/project/?slug="]) {
      for (const length of [8300, 16_300, 17_000, 140_000, 3_000_000]) {
        const reply = await sendRaw(app, `GET ${path}${"x".repeat(length)} HTTP/1.1`, "Host: localhost");
        expect(reply).toMatch(/^HTTP\/1\.1 414 [\s\S]*\r\n\r\n\{"error":"This server takes no path .*"\}$/);
      }
    }
    for (const length of [16_400, 140_000, 3_000_000]) {
      const header = `X-Long: ${"x".repeat(length)}`;
      const reply = await sendRaw(app, "GET /api/v1/ HTTP/1.1", "Host: localhost", header);
      expect(reply).toMatch(/^HTTP\/1\.1 431 [\s\S]*\r\n\r\n\{"error":"The headers [^"]*"\}$/);
    }
    const many = Array.from({ length: 3000 }, (_, nth) => `X-${nth}: ${"x".repeat(90)}`);
    expect(await sendRaw(app, "GET /api/v1/ HTTP/1.1", "Host: localhost", ...many)).toContain(" 431 ");
  });

  it("answer what is no HTTP, and what is no address, in words", async () => {
    await using app = await serveWorld();
    for (const [line, host] of [
      ["hello\r\n", "Host: localhost"],
      ["GET /api/v1/user/a\\b/ HTTP/1.1", "Host: localhost"],
      ["OPTIONS * HTTP/1.1", "Host: localhost"],
      ["GET /api/v1/user/ HTTP/1.1", "Host: a b"],
    ] as const)
      expect(await sendRaw(app, line, host)).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\n\{"error":"[^"]*"\}$/);
  });

  it("have no word on what a client expects", async () => {
    await using app = await serveWorld();
    for (const expected of ["Expect: 100-continue", "Expect: something-else"]) {
      const reply = await sendRaw(app, "GET /api/v1/ HTTP/1.1", "Host: localhost", expected);
      expect(reply).toContain("HTTP/1.1 200 OK");
    }
  });

  it("answer a request that does not arrive by 408, in words", {
    tags: ["long"],
    timeout: 60_000,
  }, async () => {
    await using app = await serveWorld();
    const reply = await talk(app.url, "GET /api/v1/user/ HTTP/1.1\r\nHost: loc");
    expect(reply).toMatch(/^HTTP\/1\.1 408 [\s\S]*\r\n\r\n\{"error":"[^"]*"\}$/);
  });

  it("say nothing between the parts of a reply that is under way", async () => {
    const body = new ReadableStream({
      start: (sink) => sink.enqueue(new TextEncoder().encode("x".repeat(1000))),
    });
    const pages = new Hono().get("/", (c) => c.body(body));
    await using app = await serveWorld({}, { pages });
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    let reply = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      reply += chunk;
    });
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await expect.poll(() => reply).toContain("xxx");
    socket.on("error", () => {}).write("hello\r\n\r\n");
    await once(socket, "close");
    expect(reply).not.toContain("HTTP/1.1 400");
  });
});
