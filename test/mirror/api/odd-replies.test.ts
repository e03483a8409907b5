import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import {
  HttpStatusError,
  NetworkError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
} from "../../../src/base/errors.ts";
import { createTestClient } from "../../support/client.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const JSON_BODY = 'content-type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}';

/** What one fetch comes to when the server's side of the connection is played by hand, and how many asked. */
async function fetchFrom(
  play: (socket: Socket) => void,
  { timeoutMs = 60_000, greets = false, retries = 0 } = {},
) {
  let asked = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    if (greets) play(socket);
    socket.on("data", () => {
      asked += 1;
      if (!greets) play(socket);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await using client = createTestClient(`http://127.0.0.1:${port}`, { retries, timeoutMs });
  const [settled] = await Promise.allSettled([client.fetchJson("/api/v1/", { parse: (value) => value })]);
  for (const socket of sockets) socket.destroy();
  server.close();
  return {
    value: settled?.status === "fulfilled" ? settled.value.value : null,
    error: settled?.status === "rejected" ? (settled.reason as UpstreamError) : null,
    asked,
  };
}

const CUT = 'content-length: 5\r\n\r\n{"a":';
const NO_JSON = UnexpectedShapeError;

const says = (text: string) => (socket: Socket) => void socket.write(text);
const saysAndCloses = (text: string) => (socket: Socket) => void socket.end(text);

describe("a reply", () => {
  it.each([
    ["after 103 Early Hints", says(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${OK}${JSON_BODY}`)],
    ["with 206, whole although it says otherwise", says(`HTTP/1.1 206 Partial Content\r\n${JSON_BODY}`)],
    ["of HTTP/1.0 that ends with the connection", saysAndCloses('HTTP/1.0 200 OK\r\n\r\n{"a":1}')],
    ["of HTTP/1.1 that ends with the connection", saysAndCloses(`${OK}connection: close\r\n\r\n{"a":1}`)],
    ["in chunks", says(`${OK}transfer-encoding: chunked\r\n\r\n3\r\n{"a\r\n4\r\n":1}\r\n0\r\n\r\n`)],
  ])("%s is read", async (_, play) => {
    expect(await fetchFrom(play)).toEqual({ value: { a: 1 }, error: null, asked: 1 });
  });

  it.each<[string, (socket: Socket) => void, (new (...args: never[]) => Error)?, string?]>([
    ["204", says("HTTP/1.1 204 No Content\r\n\r\n"), NO_JSON, "no JSON with an empty body (status 204)"],
    ["206 with a part alone", says(`HTTP/1.1 206 Partial Content\r\n${CUT}`), NO_JSON, "no JSON"],
    ["100 Continue, which nobody waits for", says(`HTTP/1.1 100 Continue\r\n\r\n${OK}${JSON_BODY}`)],
    ["304 that nobody asked for", says("HTTP/1.1 304 Not Modified\r\n\r\n"), HttpStatusError, "answered 304"],
    ["HTTP/1.0 cut off in the body", saysAndCloses('HTTP/1.0 200 OK\r\n\r\n{"a"'), NO_JSON, "no JSON"],
    ["fewer bytes than announced", saysAndCloses(`${OK}content-length: 100\r\n\r\n{"a":1}`)],
    ["a chunk whose length is none", says(`${OK}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`)],
    ["two lengths that differ", says(`${OK}content-length: 2\r\ncontent-length: 7\r\n\r\n{"a":1}`)],
    [
      "a switch to another protocol",
      says("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
    ],
    ["headers without end", says(`${OK}${`x: ${"y".repeat(1000)}\r\n`.repeat(100)}`)],
    ["headers that stop in the middle", saysAndCloses("HTTP/1.1 200 OK\r\ncontent-le")],
    ["no HTTP at all", saysAndCloses("SSH-2.0-OpenSSH\r\n")],
  ])("with %s is a clear error", async (_, play, kind = NetworkError, words = "got no answer") => {
    const { error } = await fetchFrom(play);
    expect(error).toBeInstanceOf(kind);
    expect(error?.message).toContain(words);
  });

  it.each([
    ["no HTTP at all", "SSH-2.0-OpenSSH\r\n", 3, /another program listens at this port/],
    [
      "headers of 20 kB",
      `${OK}x: ${"y".repeat(20_000)}\r\n\r\n`,
      1,
      /NODE_OPTIONS=--max-http-header-size=65536/,
    ],
  ])("with %s is not asked for six times, and its hint leads to the cause", async (_, text, tries, hint) => {
    const { error, asked } = await fetchFrom(saysAndCloses(text), { retries: 5 });
    expect(error).toBeInstanceOf(NetworkError);
    expect([asked, error?.hint]).toEqual([tries, expect.stringMatching(hint)]);
  });

  it("that comes before the request was read is no reply to it", async () => {
    const { value, error } = await fetchFrom(saysAndCloses(`${OK}${JSON_BODY}`), { greets: true });
    // Which of the two depends on what reaches the client first; both are right.
    if (error) expect(error).toBeInstanceOf(NetworkError);
    else expect(value).toEqual({ a: 1 });
  });

  it.each([
    ["its headers", OK],
    ["its body", `${OK}content-length: 100000\r\n\r\n`],
  ])("that brings a byte now and then in %s ends by the time limit of the whole request", async (_, start) => {
    const { error } = await fetchFrom(
      (socket) => {
        socket.write(start);
        const drip = setInterval(() => socket.write("x"), 10);
        socket.on("close", () => clearInterval(drip));
      },
      { timeoutMs: 200 },
    );
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error?.message).toContain("was not answered within 200 ms");
  });
});
