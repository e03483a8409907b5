import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface DatabaseLink extends AsyncDisposable {
  /** The URL of the database behind the link. */
  readonly url: string;
  /** Refuses connections, and breaks those that are there. */
  cut(): Promise<void>;
  /** Takes connections and what is sent, and passes nothing on: a server that is frozen. */
  freeze(): void;
  /** Takes new connections and passes them on. Those that were frozen stay silent, as after a lost route. */
  restore(): Promise<void>;
}

/** A way to a database over a port of its own, which a test can cut and freeze. `cut` ends what a freeze left. */
export async function linkDatabase(databaseUrl: string): Promise<DatabaseLink> {
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

  async function listen(port: number): Promise<void> {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  }

  async function cut(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(port);
  return {
    url: url.href,
    cut,
    freeze() {
      isFrozen = true;
      stall();
    },
    async restore() {
      isFrozen = false;
      if (!server.listening) await listen(port);
    },
    [Symbol.asyncDispose]: cut,
  };
}
