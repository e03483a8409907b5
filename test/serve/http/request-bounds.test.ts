import { once } from "node:events";
import { connect } from "node:net";
import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { serveWorld } from "./simulated-app.ts";

/** Sends raw bytes, and reads until the server closes the connection. */
async function talk(url: string, sent: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let reply = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    reply += chunk;
  });
  socket.write(sent);
  await once(socket, "close");
  return reply;
}

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
    const reply = await app.get(
      "/api/v1/user/",
      { "content-type": "application/json" },
      { method: "POST", body: "{}" },
    );
    expect(reply.status).toBe(405);
  });

  it("refuse each long path or query by 414, and longer headers by 431, in words", async () => {
    await using app = await serveWorld();
    const at = async (path: string) => (await app.get(path)).status;
    expect(await at(`/api/v1/project/${"x".repeat(16_000)}/`)).toBe(404);
    expect(await (await app.get(`/project/${"x".repeat(16_000)}`)).text()).toBe("a page");
    for (const path of ["/api/v1/project/", "/project/", "/livez?", "/metrics?", "/api/v1/project/?slug="]) {
      for (const length of [17_000, 120_000, 140_000, 3_000_000]) {
        const head = `GET ${path}${"x".repeat(length)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
        const reply = await talk(app.url, head);
        expect(reply).toMatch(
          /^HTTP\/1\.1 414 [\s\S]*\r\n\r\n\{"error":"This server takes no path [^"]*"\}$/,
        );
      }
    }
    for (const length of [140_000, 3_000_000]) {
      const header = `X-Long: ${"x".repeat(length)}`;
      const reply = await talk(app.url, `GET /api/v1/ HTTP/1.1\r\nHost: localhost\r\n${header}\r\n\r\n`);
      expect(reply).toMatch(/^HTTP\/1\.1 431 [\s\S]*\r\n\r\n\{"error":"The headers [^"]*"\}$/);
    }
    const many = Array.from({ length: 3000 }, (_, nth) => `X-${nth}: ${"x".repeat(90)}\r\n`).join("");
    expect(await talk(app.url, `GET /api/v1/ HTTP/1.1\r\nHost: localhost\r\n${many}\r\n`)).toContain(" 431 ");
  });

  it("answer what is no HTTP, and what is no address, in words", async () => {
    await using app = await serveWorld();
    const host = "Host: localhost\r\nConnection: close\r\n\r\n";
    for (const sent of [
      "hello\r\n\r\n",
      `GET /api/v1/user/a\\b/ HTTP/1.1\r\n${host}`,
      `OPTIONS * HTTP/1.1\r\n${host}`,
      `GET /api/v1/user/ HTTP/1.1\r\n${host.replace("localhost", "a b")}`,
    ]) {
      expect(await talk(app.url, sent)).toMatch(/^HTTP\/1\.1 400 [\s\S]*\r\n\r\n\{"error":"[^"]*"\}$/);
    }
  });

  it("have no word on what a client expects", async () => {
    await using app = await serveWorld();
    for (const expected of ["100-continue", "something-else"]) {
      const reply = await talk(
        app.url,
        `GET /api/v1/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nExpect: ${expected}\r\n\r\n`,
      );
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
