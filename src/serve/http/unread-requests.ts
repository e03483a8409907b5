/**
 * What is said to a request that Node's parser gives up, so that no handler sees it. Node writes a status without a word and
 * closes, and a client that is still sending loses even that to the reset of its connection.
 */
import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { LONG_URL } from "./request-bounds.ts";

/** How long a client may go on sending. */
const LINGER_MS = 5000;
/** Long enough for the end of a request line. */
const KEPT_CHARACTERS = 16;

interface ParserError extends NodeJS.ErrnoException {
  /** What had arrived last. */
  rawPacket?: Buffer;
}

/** A connection has the reply that it is sending. */
type HttpSocket = Socket & { _httpMessage?: ServerResponse | null };

/** Answers such requests as errors are answered, and reads what their clients still send, for 5 s at most. */
export function answerUnread(server: Server): void {
  const refused = new WeakSet<Socket>();
  server.on("clientError", ({ code, rawPacket }: ParserError, socket: HttpSocket) => {
    // From Node 24 on the parser may complain of the rest, too.
    if (refused.has(socket)) return;
    if (code === "ECONNRESET" || !socket.writable || socket._httpMessage?.headersSent) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    // The parser must not see the rest.
    socket.removeAllListeners("data").removeAllListeners("end").setTimeout(0);
    const late = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(late));
    if (code === "HPE_HEADER_OVERFLOW")
      readLine(socket, rawPacket, (line) => refuse(socket, judgeLine(line)));
    else refuse(socket, code === "ERR_HTTP_REQUEST_TIMEOUT" ? LATE : NO_HTTP);
    socket.resume();
  });
}

type Refusal = readonly [status: number, sentence: string];
const LATE: Refusal = [408, "The request did not arrive in time."];
const NO_HTTP: Refusal = [400, "This is no request of HTTP/1.1."];
const LONG_HEADERS: Refusal = [431, "The headers of this request are too long."];

/** The path and the headers share one limit of the parser. The end of the line that met it says which one was too long. */
const judgeLine = (line: string): Refusal =>
  / HTTP\/\d\.\d\r?$/.test(line) ? [414, LONG_URL] : LONG_HEADERS;

/** Calls back with the end of the line that is being received. */
function readLine(socket: Socket, before: Buffer | undefined, then: (line: string) => void): void {
  let line = "";
  const read = (chunk: Buffer) => {
    const end = chunk.indexOf("\n");
    line = (line + chunk.toString("latin1", 0, end === -1 ? chunk.length : end)).slice(-KEPT_CHARACTERS);
    if (end === -1) return false;
    socket.off("data", read);
    then(line);
    return true;
  };
  if (before === undefined || !read(before)) socket.on("data", read);
}

function refuse(socket: Socket, [status, error]: Refusal): void {
  const body = JSON.stringify({ error });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Cache-Control: no-store",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
