import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { serveWorld } from "./simulated-app.ts";

/** Sends raw bytes, and reads until the server closes the connection. */
async function talk(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let reply = "";
  socket.setEncoding("utf8").on("data", (chunk) => {
    reply += chunk;
  });
  // The server may close the connection while the rest is still being sent.
  socket.on("error", () => {});
  socket.write(text);
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

  it("refuse a long path or query by 414, and a longer header by 431", async () => {
    await using app = await serveWorld();
    const at = async (path: string) => (await app.get(path)).status;
    expect(await at(`/api/v1/project/${"x".repeat(16_000)}/`)).toBe(404);
    expect(await at(`/api/v1/project/${"x".repeat(17_000)}/`)).toBe(414);
    expect(await at(`/api/v1/project/?slug=${"x".repeat(17_000)}`)).toBe(414);
    const reply = await app.get("/api/v1/", { "x-long": "x".repeat(200_000) });
    expect(reply.status).toBe(431);
  });

  it("leave the pages their long paths, which hold slugs", async () => {
    await using app = await serveWorld();
    expect(await (await app.get(`/project/${"x".repeat(90_000)}`)).text()).toBe("a page");
  });
});
