import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttpsServer, type ServerOptions } from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import tls from "node:tls";
import { describe, expect, it, vi } from "vitest";
import {
  NetworkError,
  TimeoutError,
  type UpstreamError,
  WrongAddressError,
} from "../../../src/base/errors.ts";
import { HAS_OPENSSL, makeCertificate, makeExpiredCertificate } from "../../support/certificate.ts";
import { createTestClient } from "../../support/client.ts";

const asIs = { parse: (value: unknown) => value };
const NAMES = ["DNS:localhost", "IP:127.0.0.1"];

/** One fetch with five retries from a server over TLS: its error, how many connected, and how many requests came. */
async function failureOf(options: ServerOptions, trusted?: Buffer) {
  const count = { connected: 0, asked: 0 };
  const server = createHttpsServer(options, (_request, response) => {
    count.asked += 1;
    response.end("{}");
  }).listen(0, "127.0.0.1");
  server.on("connection", () => void count.connected++);
  await once(server, "listening");
  const { connect } = tls;
  // As NODE_EXTRA_CA_CERTS does it at the start of a process.
  using _ = vi
    .spyOn(tls, "connect")
    .mockImplementation(((given: object) => connect({ ...given, ...(trusted && { ca: trusted }) })) as never);
  const { port } = server.address() as AddressInfo;
  await using client = createTestClient(`https://me:secret@127.0.0.1:${port}`, { retries: 5 });
  const error = await client.fetchJson("/api/v1/", asIs).catch((reason: unknown) => reason);
  server.close();
  return { error: error as UpstreamError, certificateEnd: client.certificateEnd(), ...count };
}

describe.skipIf(!HAS_OPENSSL)("a service over TLS", () => {
  it.each<[string, () => ServerOptions & { cert: Buffer }, boolean, string, RegExp]>([
    [
      "nobody vouches for",
      () => makeCertificate(...NAMES),
      false,
      "self-signed",
      /NODE_EXTRA_CA_CERTS=FILE in its environment.*`\.env`/,
    ],
    ["has expired", () => makeExpiredCertificate(...NAMES), true, "certificate has expired", /must renew it/],
    [
      "is of another name",
      () => makeCertificate("DNS:other.example"),
      true,
      "altnames",
      /DOCMIRROR_BASE_URL/,
    ],
    [
      "comes by too old a TLS",
      () => ({
        ...makeCertificate(...NAMES),
        ...({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const),
      }),
      true,
      "got no answer: TLS failed: tlsv1 alert protocol version",
      /NODE_OPTIONS="--tls-min-v1\.0/,
    ],
  ])("whose certificate %s is refused after one try, with the cause as its hint", async (_, options, isTrusted, words, hint) => {
    const given = options();
    const { error, ...found } = await failureOf(given, isTrusted ? given.cert : undefined);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({ exitCode: 5, message: expect.stringContaining(words) });
    expect(error.hint).toMatch(hint);
    expect(found).toEqual({ certificateEnd: null, connected: 1, asked: 0 });
  });
});

it.skipIf(!HAS_OPENSSL)(
  "a client knows when the certificate of its service ends, once it is connected",
  async () => {
    const given = makeCertificate(...NAMES);
    const server = createHttpsServer(given, (_request, response) => response.end("{}")).listen(
      0,
      "127.0.0.1",
    );
    await once(server, "listening");
    const { connect } = tls;
    using _ = vi
      .spyOn(tls, "connect")
      .mockImplementation(((options: object) => connect({ ...options, ca: given.cert })) as never);
    await using client = createTestClient(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect(client.certificateEnd()).toBeNull();
    await client.fetchJson("/api/v1/", asIs);
    expect(client.certificateEnd()).toEqual(new Date(new X509Certificate(given.cert).validTo));
    server.close();
  },
);

it.each([
  ["CERT_NOT_YET_VALID", /begins later/],
  ["ERR_SSL_TLSV1_UNRECOGNIZED_NAME", /for another name: correct the host in DOCMIRROR_BASE_URL/],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", /has none to send/],
  ["ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE", /NODE_OPTIONS="--tls-min/],
  ["ERR_SSL_DH_KEY_TOO_SMALL", /NODE_OPTIONS="--tls-min/],
])("%s has the cause as its hint, after one try", async (code, hint) => {
  const fetch = vi.fn(() => Promise.reject(Object.assign(new Error("12AB:error:0A"), { code })));
  await using client = createTestClient("https://docs.invalid", { retries: 5, fetch });
  const error = await client.fetchJson("/api/v1/", asIs).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ hint: expect.stringMatching(hint) });
  expect(fetch).toHaveBeenCalledTimes(1);
});

describe("a port that is silent to TLS", () => {
  async function failureAt(answer: (socket: Socket, text: string) => void, timeoutMs: number) {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => answer(socket, bytes.toString("latin1")));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using client = createTestClient(`https://127.0.0.1:${port}`, { retries: 0, timeoutMs });
    const error = await client.fetchJson("/api/v1/", asIs).catch((reason: unknown) => reason);
    server.close();
    return error;
  }
  const answerHttp = (status: string) => (socket: Socket, text: string) => {
    if (text.startsWith("GET ")) socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`);
  };

  it("and answers plain HTTP is a wrong scheme, long before the time-out", async () => {
    const error = await failureAt(answerHttp("404 Not Found"), 1500);
    expect(error).toBeInstanceOf(WrongAddressError);
    expect(String(error)).toContain("The service speaks plain HTTP at this port; use http://");
  });

  it("and closes says what that may mean", async () => {
    const error = await failureAt((socket) => socket.end(), 60_000);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({
      hint: expect.stringMatching(/plain HTTP at this port, use http:\/\/; otherwise/),
    });
  });

  it.each([
    ["and to plain HTTP too", () => {}],
    ["and refuses plain HTTP as servers of TLS do", answerHttp("400 Bad Request")],
  ])("%s runs into the time-out", async (_, answer) => {
    expect(await failureAt(answer, 300)).toBeInstanceOf(TimeoutError);
  });
});
