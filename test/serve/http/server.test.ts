import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { Hono } from "hono";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startServer } from "../../../src/serve/http/server.ts";
import { later } from "../../support/tally.ts";

const LOCAL = { host: "127.0.0.1", port: 0 };
const HERE = new Hono().get("/", (c) => c.text("here"));
/** Resolves when the port of a server takes no more connections. */
const isRefused = ({ url }: { url: string }) =>
  expect.poll(() => fetch(url).catch((error) => error.cause.code)).toBe("ECONNREFUSED");
const connectTo = ({ url }: { url: string }) => connect(Number(new URL(url).port), "127.0.0.1");

/** Resolves when the reply has come to its end, complete or not. */
const ask = (url: string, agent: Agent) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { agent }, (reply) => reply.resume().on("close", () => resolve(reply)))
      .on("error", reject)
      .end();
  });

describe("a server", () => {
  it("says why an address cannot be had", async () => {
    const server = await startServer({ app: HERE, ...LOCAL });
    const port = Number(new URL(server.url).port);
    for (const [host, reason] of [
      ["127.0.0.1", "another program listens there"],
      ["192.0.2.1", "this machine has no such address"],
    ] as const) {
      await expect(startServer({ app: HERE, host, port })).rejects.toMatchObject({
        name: "ConfigError",
        message: expect.stringContaining(`could not listen on ${host}, port ${port}: ${reason}`),
      });
    }
    await server.close();
  });

  it("lets replies under way end when it is closed, for a while, and takes no more", async () => {
    const [release, asked] = [later(), vi.fn()];
    const app = new Hono()
      .use(async (_, next) => {
        asked();
        await next();
      })
      .get("/slow", async (c) => {
        await release.promise;
        return c.text("whole");
      })
      .get("/never", () => new Promise(() => {}));
    const server = await startServer({ app, ...LOCAL, graceMs: 50 });
    const slow = fetch(`${server.url}/slow`).then((reply) => reply.text());
    const never = fetch(`${server.url}/never`);
    await expect.poll(() => asked.mock.calls.length).toBe(2);
    const closed = server.close();
    release.resolve();
    expect(await slow).toBe("whole");
    await Promise.all([expect(never).rejects.toThrow(), expect(closed).resolves.toBe(1)]);
    await server.close();
    await expect(fetch(server.url)).rejects.toThrow();
  });

  it("is not held by a connection that was opened and never asked anything", async () => {
    const server = await startServer({ app: new Hono(), ...LOCAL, graceMs: 600_000 });
    const idle = connectTo(server);
    await once(idle, "connect");
    expect(await server.close()).toBe(0);
    idle.destroy();
  });

  it("answers a request that was on its way when it was closed, and says that the connection ends", async () => {
    const server = await startServer({ app: HERE, ...LOCAL, drainMs: 60_000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await ask(server.url, agent)).headers.connection).toBe("keep-alive");
    const closed = server.close();
    await isRefused(server);
    const late = await ask(server.url, agent);
    expect([late.statusCode, late.headers.connection]).toEqual([200, "close"]);
    await closed;
    agent.destroy();
  });

  it("answers all requests that a client sent at once before it was closed", async () => {
    const answers: (() => void)[] = [];
    const app = new Hono().get("/:nth", async (c) => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return c.text(`answer ${c.req.param("nth")}`);
    });
    const server = await startServer({ app, ...LOCAL });
    const socket = connectTo(server);
    for (const nth of [1, 2, 3]) socket.write(`GET /${nth} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await expect.poll(() => answers.length).toBe(3);
    const closed = server.close();
    await isRefused(server);
    for (const answer of answers) answer();
    expect((await text(socket)).match(/answer \d|connection: [a-z-]+/gi)).toEqual([
      ...["Connection: keep-alive", "answer 1", "Connection: keep-alive", "answer 2"],
      ...["connection: close", "answer 3"],
    ]);
    await closed;
  });

  it("answers connections that were made before it was closed and that it had not taken yet", async () => {
    const server = await startServer({ app: HERE, ...LOCAL });
    const replies = Array.from({ length: 20 }, () => {
      const socket = connectTo(server);
      socket.write("GET / HTTP/1.0\r\n\r\n");
      return text(socket);
    });
    // The connections are made by now, and the server has had no turn to take them.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await server.close();
    for (const reply of await Promise.all(replies)) expect(reply).toContain("here");
  });

  it("reads what has arrived before it closes a connection, also when it was busy for long", async () => {
    const server = await startServer({ app: HERE, ...LOCAL, drainMs: 3_600_000 });
    const socket = connectTo(server);
    const ask = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    socket.write(ask);
    await once(socket, "data");
    const closed = server.close();
    await isRefused(server);
    socket.write(ask);
    // Long enough for the next sweep to be due, which then finds two hours gone.
    const until = Date.now() + 200;
    while (Date.now() < until);
    const later = performance.now() + 7_200_000;
    const clock = vi.spyOn(performance, "now").mockReturnValue(later);
    onTestFinished(() => clock.mockRestore());
    expect(await text(socket)).toMatch(/connection: close[\s\S]*here$/);
    await closed;
  });

  it("keeps a connection for the next request of a crawler that pauses", async () => {
    const server = await startServer({ app: HERE, ...LOCAL });
    expect((await fetch(server.url)).headers.get("keep-alive")).toBe("timeout=120");
    await server.close();
  });
});
