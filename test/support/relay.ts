import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A network between a process and a server on loopback, which may lose everything on its way. */
export interface Relay extends AsyncDisposable {
  /** The same address, by way of the relay. */
  url(url: string): string;
  /** From now on nothing gets through, and no connection is closed: new ones open and stay silent. */
  silence(): void;
  /** Closes every connection. New ones get through. */
  restore(): void;
}

export async function startRelay(serverUrl: string): Promise<Relay> {
  const { hostname, port } = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let isSilent = false;

  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  };
  const pass = (from: Socket, to: Socket) => {
    from.on("data", (chunk) => void (isSilent || to.write(chunk)));
    // A silent network loses the end of a connection too.
    from.on("close", () => void (isSilent || to.destroy()));
  };
  const server = createServer((near) => {
    keep(near);
    if (isSilent) return void near.on("data", () => {});
    const far = connect(Number(port || 5432), hostname.replace(/^\[|\]$/g, ""));
    keep(far);
    pass(near, far);
    pass(far, near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url(url) {
      const own = new URL(url);
      own.hostname = "127.0.0.1";
      own.port = String((server.address() as AddressInfo).port);
      return own.href;
    },
    silence() {
      isSilent = true;
    },
    restore() {
      isSilent = false;
      cut();
    },
    async [Symbol.asyncDispose]() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
