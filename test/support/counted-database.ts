import { connect, createServer, type Socket } from "node:net";
import { listenOnLoopback } from "./free-port.ts";

/** The work that a database was asked for over a link. */
export interface CountedWork {
  sessions: number;
  /** Those of a `begin`, and each statement outside of one. */
  transactions: number;
  /** The texts, in their order. `begin`, `commit` and the settings of a session are statements too. */
  statements: string[];
}

export type CountedDatabase = Awaited<ReturnType<typeof countDatabase>>;

/** A way to a database that counts what is asked over it, by the messages of the protocol. */
export async function countDatabase(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let work: CountedWork = { sessions: 0, transactions: 0, statements: [] };

  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [near, far]) sockets.add(socket.on("error", () => {}));
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    /** The texts of prepared statements, by their names. */
    const texts = new Map<string, string>();
    let bound = "";
    let isAsked = false;
    const ask = (text: string) => {
      isAsked = true;
      work.statements.push(text.replace(/\s+/g, " ").trim());
    };
    // The URL asks for no TLS. So the first message is the one that has no type, and each answer has one.
    const sent = readMessages(true, (type, body) => {
      const [name = "", text = ""] = body.toString("utf8").split("\0");
      if (type === "") work.sessions += 1;
      if (type === "Q") ask(name);
      if (type === "P") texts.set(name, text);
      if (type === "B") bound = texts.get(text) ?? "";
      if (type === "E") ask(bound);
    });
    const answered = readMessages(false, (type, body) => {
      if (type !== "Z" || body.toString() !== "I" || !isAsked) return;
      isAsked = false;
      work.transactions += 1;
    });
    near.on("data", (chunk) => {
      sent(chunk);
      far.write(chunk);
    });
    far.on("data", (chunk) => {
      answered(chunk);
      near.write(chunk);
    });
  });

  const { port } = await listenOnLoopback(server);
  return {
    url: Object.assign(new URL(databaseUrl), { hostname: "127.0.0.1", port, search: "?sslmode=disable" })
      .href,
    /** All since the start, or since it was taken last. */
    take(): CountedWork {
      const taken = work;
      work = { sessions: 0, transactions: 0, statements: [] };
      return taken;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Cuts a stream into messages: a type, except for the first one of a client, the length of the rest, and the rest. */
function readMessages(isClient: boolean, onMessage: (type: string, body: Buffer) => void) {
  let rest = Buffer.alloc(0);
  let isFirst = isClient;
  return (chunk: Buffer): void => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const at = isFirst ? 0 : 1;
      if (rest.length < at + 4) return;
      const end = at + rest.readUInt32BE(at);
      if (rest.length < end) return;
      onMessage(isFirst ? "" : rest.toString("latin1", 0, 1), rest.subarray(at + 4, end));
      rest = rest.subarray(end);
      isFirst = false;
    }
  };
}
