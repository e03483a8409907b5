import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import {
  HttpStatusError,
  NetworkError,
  StoppedError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
  WrongAddressError,
} from "../../../src/base/errors.ts";
import { withRetries } from "../../../src/mirror/api/retry.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";

const OK = "HTTP/1.1 200 OK\r\n";
const JSON_BODY = 'content-type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}';

/** What one fetch comes to when the server's side of the connection is played by hand, and how many asked. */
async function fetchFrom(play: (socket: Socket) => void, { timeoutMs = 60_000, retries = 0 } = {}) {
  let asked = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("data", () => {
      asked += 1;
      play(socket);
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

const asIs = { parse: (value: unknown) => value };

/**
 * Asks for users where the first reply is this one: the error, and how many requests it took. `%` in `base`
 * stands for host and port.
 */
async function refusalOf(reply: ScriptedReply, base = "http://%") {
  await using server = await startScriptedServer([reply]);
  await using client = createTestClient(base.replace("%", server.url.host), { retries: 5 });
  const error = await client.fetchJson("/api/v1/user/", asIs).catch((reason: unknown) => reason);
  return { error: error as UpstreamError, count: server.requests.length };
}

async function errorOf(greet: (socket: Socket) => void) {
  const server = createServer((socket) => greet(socket.on("error", () => {}))).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await using client = createTestClient(`http://127.0.0.1:${port}`, { retries: 0 });
  const error = await client.fetchJson("/api/v1/user/", asIs).catch((reason: unknown) => reason);
  server.close();
  return { error: error as UpstreamError, origin: `127.0.0.1:${port}` };
}

describe("a refusal", () => {
  it.each([
    [401, "http://%", "The service requires a login (401); docmirror reads public interfaces only"],
    [403, "http://%", "The service refuses to answer (403); docmirror reads public interfaces only"],
    [401, "http://me:secret@%", "The user or the password in DOCMIRROR_BASE_URL is refused (401)"],
    [401, "http://token@%", "The user or the password in DOCMIRROR_BASE_URL is refused (401)"],
    [403, "http://me:secret@%", "The user in DOCMIRROR_BASE_URL may not read this (403)"],
    [407, "http://%", "A proxy in front of the service requires a login (407)"],
  ])("with %i below %s says who is refused, after one request", async (status, base, sentence) => {
    const { error, count } = await refusalOf({ status, body: "no" }, base);
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(error.message).toBe(`${sentence} (GET ${error.url} answered ${status}: no)`);
    expect(`${error.message} ${error.hint}`).not.toMatch(/me:secret|token@|before \/api/);
    const asksForManners = /DOCMIRROR_CONTACT and lower DOCMIRROR_RATE/.test(error.hint ?? "");
    expect(asksForManners).toBe(status === 403 && base === "http://%");
    expect(count).toBe(1);
  });
});

describe("a redirect to another place", () => {
  it("shows nothing of our own login that it sends back", async () => {
    const location = `/login?auth=${Buffer.from("me:secret").toString("base64")}`;
    const { error } = await refusalOf({ status: 302, headers: { location }, body: "" }, "http://me:secret@%");
    expect(error.message).toContain("/login?auth=***");
  });

  it.each([
    ["https://other.example.org/api/v1/user/?format=json", "https://other.example.org"],
    ["https://other.example.org", "https://other.example.org"],
    ["//other.example.org/docs/api/v1/user/", "http://other.example.org/docs"],
    ["/docs/api/v1/user/", "http://127.0.0.1:PORT/docs"],
    ["https://me:secret@other.example.org:8443/api/v1/", "https://other.example.org:8443"],
  ])("such as %s names the base URL to set, after one request", async (location, base) => {
    const { error, count } = await refusalOf({ status: 302, headers: { location }, body: "" });
    expect(error).toBeInstanceOf(WrongAddressError);
    const moved = error.message.replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT");
    expect(moved).toContain(`It has moved to ${base}; set DOCMIRROR_BASE_URL to that (GET `);
    expect(moved).not.toContain("secret");
    expect(error.reply).toMatchObject({ status: 302, headers: { location } });
    expect(count).toBe(1);
  });

  it.each([
    "/accounts/login/?next=/api/v1/user/",
    "https://login.example.org/start",
    "data:application/json,{}",
    "http://",
    "",
  ])("such as '%s', which is no API, is shown as it is, after one request", async (location) => {
    const { error, count } = await refusalOf({ status: 302, headers: { location }, body: "" });
    expect(error).toBeInstanceOf(WrongAddressError);
    expect(error.message).toMatch(/^GET .* answered 302 to '.*', which is not followed$/);
    expect(count).toBe(1);
  });
});

describe("a redirect in a circle", () => {
  it.each([
    [
      "that sets a cookie each time says that it waits for it",
      { "set-cookie": "seen=1; Path=/" },
      /sets a cookie/,
    ],
    ["without one is told to the operator", {}, /in a circle/],
  ])("%s, after four requests", async (_, headers, hint) => {
    const back = { location: "/api/v1/user/", ...headers } as Record<string, string>;
    const { error, count } = await refusalOf({ status: 302, headers: back, body: "" });
    expect(error).toBeInstanceOf(WrongAddressError);
    expect([error.hint, count]).toEqual([expect.stringMatching(hint), 4]);
    expect(error.reply).toMatchObject({ status: 302, headers: back });
  });
});

describe("an error that is told in JSON with a status of success", () => {
  const asList = {
    parse(): never {
      throw new UnexpectedShapeError("no list", { url: "" });
    },
  };
  const messageOf = async (reply: ScriptedReply) => {
    await using server = await startScriptedServer([reply]);
    await using client = createTestClient(server.url, { retries: 0 });
    return String(await client.fetchJson("/api/v1/user/", asList).catch((error: Error) => error.message));
  };

  it.each<[string, ScriptedReply, string]>([
    ["quoted", { body: { error: "rate limit exceeded" } }, 'no list: {"error":"rate limit exceeded"}'],
    ["told with its status", { status: 202, body: { wait: true } }, 'no list: {"wait":true} (status 202)'],
    ["not what a page is", { body: { objects: [], error: "x" } }, "no list"],
  ])("is %s", async (_, reply, message) => {
    expect(await messageOf(reply)).toBe(message);
  });
});

describe("the wrong scheme", () => {
  it("https at a port of plain HTTP says so, after one try", async () => {
    const { error, count } = await refusalOf({}, "https://%");
    expect(error).toBeInstanceOf(WrongAddressError);
    expect(error.message).toMatch(
      /^The service speaks plain HTTP at this port; use http:\/\/ \(https:\/\/127\.0\.0\.1:\d+\)$/,
    );
    expect(error.hint).toBe("correct the scheme in DOCMIRROR_BASE_URL");
    expect(count).toBe(0);
  });

  it.each([
    ["nginx", "<center>The plain HTTP request was sent to HTTPS port</center>"],
    ["Apache", "You're speaking plain HTTP to an SSL-enabled server port."],
    ["Go", "Client sent an HTTP request to an HTTPS server."],
  ])("http at a port of TLS says so where %s tells it", async (_, body) => {
    const { error, count } = await refusalOf({ status: 400, body });
    expect(error).toBeInstanceOf(WrongAddressError);
    expect(error.message).toMatch(/^The service speaks TLS at this port; use https:\/\/ \(http:/);
    expect(count).toBe(1);
  });

  it("http that is answered with an alert of TLS says so", async () => {
    const alert = Buffer.from("15030100020246", "hex");
    const { error, origin } = await errorOf((socket) => socket.end(alert));
    expect(error).toBeInstanceOf(WrongAddressError);
    expect(error.message).toBe(`The service speaks TLS at this port; use https:// (http://${origin})`);
  });

  it.each([
    [
      "without a word says what that may mean",
      "",
      /^if the service speaks TLS .* https:\/\/; otherwise check/,
    ],
    ["within its reply does not speak of TLS", "HTTP/1.1 200 OK\r\ncontent-le", /^check /],
  ])("http at a port that closes %s", async (_, said, hint) => {
    const { error } = await errorOf((socket) => socket.once("data", () => socket.end(said)));
    expect(error.message).toContain("got no answer");
    expect(error.hint).toMatch(hint);
  });

  it("http at a port where nobody listens does not speak of TLS", async () => {
    await using client = createTestClient("http://127.0.0.1:1", { retries: 0 });
    const hint = expect.stringMatching(/^check /);
    await expect(client.fetchJson("/api/v1/", asIs)).rejects.toMatchObject({ hint });
  });
});

const FACTS = { url: "http://h/" };
const lost = new NetworkError("got no answer", FACTS);

/** Runs what always fails with the jitter's dice held at `random`. */
async function failing(error: unknown, retries: number, random: number) {
  const clock = createFakeClock();
  const told: [number, number | null][] = [];
  let attempts = 0;
  const thrown = await withRetries(
    async () => {
      attempts += 1;
      throw error;
    },
    {
      retries,
      clock,
      signal: undefined,
      random: () => random,
      onRetry: (_, attempt, waitMs) => void told.push([attempt, waitMs]),
    },
  ).catch((reason: unknown) => reason);
  return { thrown, attempts, sleeps: clock.sleeps, told };
}

describe("withRetries", () => {
  it("waits with full jitter below a ceiling that doubles up to a minute", async () => {
    const { sleeps, attempts } = await failing(lost, 10, 1);
    expect(sleeps).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
    expect(attempts).toBe(11);
    expect((await failing(lost, 3, 0)).sleeps).toEqual([0, 0, 0]);
    expect((await failing(lost, 3, 0.5)).sleeps).toEqual([250, 500, 1000]);
  });

  it("throws the last error itself and tells of every wait before it", async () => {
    const { thrown, told } = await failing(lost, 2, 1);
    expect(thrown).toBe(lost);
    expect(told).toEqual([
      [1, 500],
      [2, 1000],
    ]);
  });

  it("asks once where asking again cannot help", async () => {
    for (const error of [new Error("a bug"), new TypeError("fetch failed"), new StoppedError("SIGINT")]) {
      expect(await failing(error, 5, 0)).toEqual({ thrown: error, attempts: 1, sleeps: [], told: [] });
    }
  });

  it("reports no further try once the host is lost", async () => {
    const gate = new AbortController();
    const retried: number[] = [];
    const attempt = async () => {
      gate.abort(lost);
      throw lost;
    };
    const { signal } = gate;
    const onRetry = (_: unknown, number: number) => void retried.push(number);
    const run = withRetries(attempt, { retries: 5, clock: createFakeClock(), signal, onRetry });
    await expect(run).rejects.toBe(lost);
    expect(retried).toEqual([]);
  });

  it("does not begin once it is stopped", async () => {
    const stopped = AbortSignal.abort(new StoppedError("SIGTERM"));
    let attempts = 0;
    const run = withRetries(async () => ++attempts, {
      retries: 5,
      clock: createFakeClock(),
      signal: stopped,
      onRetry() {},
    });
    await expect(run).rejects.toBe(stopped.reason);
    expect(attempts).toBe(0);
  });
});
