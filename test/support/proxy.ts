import { createServer, type IncomingMessage, request } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { connect, type Socket } from "node:net";
import { listenOnLoopback } from "./free-port.ts";

type Instead = number | "hang up" | "say nothing";

interface ProxyOptions {
  /** The port on loopback to which it connects, whatever host it is asked for: the hosts of tests have no address. */
  port: number;
  /** As in `user:password`; without one everybody may use it. */
  login?: string;
  /** What it does instead with each request: a status, or none. A function is asked each time; null lets the request pass. */
  instead?: Instead | (() => Instead | null);
  /** For a proxy that is spoken to over TLS. */
  certificate?: { cert: Buffer; key: Buffer };
}

export type TestProxy = Awaited<ReturnType<typeof startProxy>>;

/** A proxy on loopback that forwards plain requests and opens tunnels. */
export async function startProxy({ port, login, instead, certificate }: ProxyOptions) {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let tunnels = 0;
  const expected = login === undefined ? null : `Basic ${Buffer.from(login).toString("base64")}`;

  /** What it does instead, or null. */
  function refusal({ method, url, headers }: IncomingMessage): Instead | null {
    requests.push(`${method} ${url}`);
    if (expected !== null && headers["proxy-authorization"] !== expected) return 407;
    return (typeof instead === "function" ? instead() : instead) ?? null;
  }

  const server = certificate === undefined ? createServer() : createHttpsServer(certificate);
  server.on("request", (incoming, outgoing) => {
    const drawn = refusal(incoming);
    if (drawn === "say nothing") return;
    if (drawn === "hang up") return void incoming.socket.destroy();
    if (drawn !== null) return void outgoing.writeHead(drawn).end("no");
    const { "proxy-authorization": _login, ...headers } = incoming.headers;
    const { pathname, search } = new URL(incoming.url ?? "");
    const path = pathname + search;
    const onward = request({ host: "127.0.0.1", port, method: incoming.method, path, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.on("connect", (incoming: IncomingMessage, near: Socket) => {
    near.on("error", () => {});
    const drawn = refusal(incoming);
    if (drawn === "say nothing") return;
    if (drawn === "hang up") return void near.destroy();
    if (drawn !== null) return void near.end(`HTTP/1.1 ${drawn} No\r\ncontent-length: 0\r\n\r\n`);
    const far = connect(port, "127.0.0.1", () => {
      tunnels += 1;
      near.write("HTTP/1.1 200 Connection established\r\n\r\n");
      near.pipe(far).pipe(near);
    });
    far.on("error", () => near.destroy()).on("close", () => near.destroy());
    near.on("close", () => {
      if (!far.connecting) tunnels -= 1;
      far.destroy();
    });
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const url = await listenOnLoopback(server);
  if (certificate !== undefined) url.protocol = "https:";
  return {
    /** Without a login. */
    url,
    /** What it was asked for, as in `GET http://host/path` or `CONNECT host:443`. */
    requests,
    /** Tunnels that are open. */
    tunnels: () => tunnels,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
