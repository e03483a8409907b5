import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { Hono } from "hono";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startServer } from "../../../src/serve/http/server.ts";
import { later } from "../../support/tally.ts";

const HALF_A_HEAD = "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: x";

async function serve(bounds: { most?: number; mostOfClient?: number }, app = new Hono()) {
  const onFull = vi.fn();
  app.get("/livez", (c) => c.text("ok"));
  const server = await startServer({
    app,
    host: "0.0.0.0",
    port: 0,
    graceMs: 0,
    bounds: { ...bounds, onFull },
  });
  const port = Number(new URL(server.url).port);
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await server.close();
  });
  return {
    onFull,
    /** From an address of this machine. */
    async open(localAddress = "127.0.0.1", sent = HALF_A_HEAD) {
      const socket = connect({ host: "127.0.0.1", port, localAddress }).on("error", () => {});
      sockets.push(socket);
      await once(socket, "connect");
      socket.write(sent);
      return socket;
    },
    ask: (path: string, agent?: Agent) =>
      new Promise<string>((resolve, reject) => {
        get({ host: "127.0.0.1", port, path, agent }, (reply) => resolve(text(reply))).on("error", reject);
      }),
  };
}

describe("the connections of a server", () => {
  it("are bounded: the one that is silent longest is closed, and a probe is answered", async () => {
    const { open, ask, onFull } = await serve({ most: 5 });
    const sockets: Socket[] = [];
    for (let nth = 0; nth < 8; nth++) sockets.push(await open());
    await expect
      .poll(() => sockets.map(({ closed }) => closed))
      .toEqual([true, true, true, ...Array(5).fill(false)]);
    expect(await ask("/livez")).toBe("ok");
    await expect.poll(() => sockets[3]?.closed).toBe(true);
    expect(onFull.mock.calls).toEqual([[{ connections: 6, clients: 1 }]]);
  });

  it("keep those whose request is under way, and those that were used since", async () => {
    const [release, asked] = [later(), vi.fn()];
    const app = new Hono().get("/slow", async (c) => {
      asked();
      await release.promise;
      return c.text("whole");
    });
    const { open, ask } = await serve({ most: 3 }, app);
    const slow = ask("/slow");
    await expect.poll(() => asked.mock.calls.length).toBe(1);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const first = await open();
    expect(await ask("/livez", agent)).toBe("ok");
    await open();
    await expect.poll(() => first.closed).toBe(true);
    expect(await ask("/livez", agent)).toBe("ok");
    release.resolve();
    expect(await slow).toBe("whole");
  });

  it("of one client leave room for others", async () => {
    const { open, ask } = await serve({ most: 100, mostOfClient: 2 });
    const other = await open("127.0.0.2");
    const sockets = [await open(), await open(), await open()];
    await expect.poll(() => sockets.map(({ closed }) => closed)).toEqual([true, false, false]);
    expect(await ask("/livez")).toBe("ok");
    expect(other.closed).toBe(false);
  });
});
