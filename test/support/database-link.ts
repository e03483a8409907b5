import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { listenOnLoopback } from "./free-port.ts";

export type DatabaseLink = Awaited<ReturnType<typeof linkDatabase>>;

/** A way to a database over a port of its own, which a test can cut and freeze. `cut` ends what a freeze left. */
export async function linkDatabase(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isFrozen = false;

  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        // A silent network loses the end of a connection too.
        if (!isFrozen) to.destroy();
      });
    }
    if (isFrozen) stall();
  });

  function stall(): void {
    for (const socket of sockets) socket.unpipe().pause();
  }

  /** Refuses connections, and breaks those that are there. */
  async function cut(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  const { port } = await listenOnLoopback(server);
  return {
    url: Object.assign(new URL(databaseUrl), { hostname: "127.0.0.1", port }).href,
    cut,
    /** Takes connections and what is sent, and passes nothing on: a server that is frozen. */
    freeze(): void {
      isFrozen = true;
      stall();
    },
    /** Takes new connections and passes them on. Those that were frozen stay silent, as after a lost route. */
    async restore(): Promise<void> {
      isFrozen = false;
      if (!server.listening) await listenOnLoopback(server, Number(port));
    },
    [Symbol.asyncDispose]: cut,
  };
}
