import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { closeAtOnce, listenOnLoopback } from "./free-port.ts";
import { createTally } from "./tally.ts";

/** One reply, or what the server does instead of one. */
export interface ScriptedReply {
  /** @default 200 */
  status?: number;
  /** @default content-type application/json; no `Date`, which is the process's and none of the test's */
  headers?: Record<string, string>;
  /** Objects leave as JSON. @default {} */
  body?: unknown;
  /** Instead of the whole reply: close the connection at once, or in the middle of the body; never answer, or stop in the middle. */
  instead?: "hang up" | "hang up in the body" | "say nothing" | "stall in the body";
  /** Without Content-Length. */
  chunked?: boolean;
}

export interface ArrivedRequest {
  method: string;
  /** Path and query as they came. */
  path: string;
  headers: IncomingHttpHeaders;
  /** Milliseconds of `performance.now()`. */
  at: number;
}

export type ScriptedServer = Awaited<ReturnType<typeof startScriptedServer>>;

export type Script =
  | readonly ScriptedReply[]
  | ((request: ArrivedRequest, url: URL) => ScriptedReply | Promise<ScriptedReply>);

/** A loopback server that answers one request after the other from a list, whose last reply stays, or as a function says. */
export async function startScriptedServer(script: Script) {
  const requests: ArrivedRequest[] = [];
  const tally = createTally(() => requests.length);
  const server = createServer(async (incoming, response) => {
    const { method = "", url: path = "", headers } = incoming;
    const request = { method, path, headers, at: performance.now() };
    const place = requests.push(request) - 1;
    tally.come();
    const reply =
      typeof script === "function"
        ? await script(request, new URL(path, "http://scripted.invalid"))
        : (script[Math.min(place, script.length - 1)] ?? {});
    send(response, reply);
  });
  return {
    url: await listenOnLoopback(server),
    requests,
    /** Resolves when so many requests have come in since the start. */
    arrived: tally.reached,
    [Symbol.asyncDispose]: () => closeAtOnce(server),
  };
}

function send(response: ServerResponse, reply: ScriptedReply): void {
  const { status = 200, headers, body = {}, instead } = reply;
  if (instead === "say nothing") return;
  if (instead === "hang up") return void response.socket?.destroy();
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  response.sendDate = false;
  response.writeHead(status, {
    "content-type": "application/json",
    ...(!reply.chunked && status !== 204 && { "content-length": String(bytes.length) }),
    ...headers,
  });
  if (instead === undefined) return void response.end(bytes);
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => {
    if (instead === "hang up in the body") response.socket?.destroy();
  });
}
