import { createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import {
  HttpStatusError,
  UnexpectedShapeError,
  type UpstreamError,
  WrongAddressError,
} from "../../../src/base/errors.ts";
import { createTestClient } from "../../support/client.ts";
import { type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";

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
