/**
 * Keeps the sessions of a Postgres for whoever comes next, as a pooler in session mode does. A round of the watch opens five, and most of what
 * it costs is their beginning: nothing once a minute, far too much for a month of rounds in an hour.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { parseDatabaseUrl } from "../../src/store/connection/database-url.ts";

/** What the server says when it lets somebody in, and when it is ready outside of a transaction. */
const LET_IN = Buffer.from("R\0\0\0\x08\0\0\0\0", "latin1");
const READY = Buffer.from("Z\0\0\0\x05I", "latin1");
/** Drops prepared statements, locks and settings; those of the start message come back. */
const DISCARD = Buffer.from("Q\0\0\0\x10DISCARD ALL\0", "latin1");
const DISCARDED = Buffer.from("C\0\0\0\x10DISCARD ALL\0", "latin1");
/** The client's last word. */
const TERMINATE = Buffer.from("X\0\0\0\x04", "latin1");
/** Of a reply only so much of the end is looked at. */
const TAIL_BYTES = 4096;

export interface SessionPool extends AsyncDisposable {
  /** The same database by way of the pool. */
  through(databaseUrl: string): string;
}

interface Session {
  socket: Socket;
  /** What the server said from the moment on that it let the first client in. */
  greeting: Buffer;
}

/** Listens on loopback in front of the server that a URL names. */
export async function startSessionPool(serverUrl: string): Promise<SessionPool> {
  const [place] = parseDatabaseUrl(serverUrl).hosts;
  if (!place) throw new Error("the URL names no host");
  /** By their start message: it has the user, the database and the settings. */
  const idle = new Map<string, Session[]>();
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket.setNoDelay(true));
    return socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  };

  async function serve(client: Socket): Promise<void> {
    const [start] = (await once(client, "data")) as [Buffer];
    const key = start.toString("latin1");
    const kept = idle.get(key)?.pop();
    const session = kept ?? {
      socket: keep(connect(place?.port ?? 0, place?.host)),
      greeting: Buffer.alloc(0),
    };
    if (kept) client.write(kept.greeting);
    else session.socket.write(start);
    if (await lend(session, client)) idle.set(key, [...(idle.get(key) ?? []), session]);
    else session.socket.destroy();
    client.end();
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    serve(keep(client)).catch(() => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    through(databaseUrl) {
      const url = new URL(databaseUrl);
      url.host = `127.0.0.1:${port}`;
      // The first message is to be the start message.
      url.searchParams.set("sslmode", "disable");
      return url.href;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Passes on what both say until the client takes its leave; false when the session is no good for another one. */
function lend(session: Session, client: Socket): Promise<boolean> {
  const { socket } = session;
  let isLeaving = false;
  let held: Buffer | null = null;
  let said = Buffer.alloc(0);
  return new Promise((resolve) => {
    const settle = (isGood: boolean) => {
      client.off("data", onAsk).off("end", onLeave).off("close", onLoss);
      socket.off("data", onAnswer).off("close", onLoss);
      resolve(isGood);
    };
    const onLoss = () => settle(false);
    const onAsk = (bytes: Buffer) => {
      if (held) socket.write(held);
      const isLast = bytes.subarray(-TERMINATE.length).equals(TERMINATE);
      held = isLast ? TERMINATE : null;
      if (!isLast) socket.write(bytes);
      else if (bytes.length > TERMINATE.length) socket.write(bytes.subarray(0, -TERMINATE.length));
    };
    const onLeave = () => {
      if (!held) return settle(false);
      isLeaving = true;
      said = Buffer.alloc(0);
      socket.write(DISCARD);
    };
    const onAnswer = (bytes: Buffer) => {
      if (!isLeaving) client.write(bytes);
      if (!isLeaving && session.greeting.length > 0) return;
      said = Buffer.concat([said, bytes]).subarray(-TAIL_BYTES);
      if (!said.subarray(-READY.length).equals(READY)) return;
      if (isLeaving) settle(said.includes(DISCARDED));
      else session.greeting = said.subarray(said.indexOf(LET_IN));
    };
    client.on("data", onAsk).on("end", onLeave).on("close", onLoss);
    socket.on("data", onAnswer).on("close", onLoss);
  });
}
