import { once } from "node:events";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { NetworkError, TimeoutError } from "../../../src/base/errors.ts";
import { HAS_OPENSSL, makeCertificate } from "../../support/certificate.ts";
import { createTestClient } from "../../support/client.ts";

const asIs = { parse: (value: unknown) => value };
describe.skipIf(!HAS_OPENSSL)("a service over TLS", () => {
  it("whose certificate nobody vouches for is refused before anything is sent, with a hint", async () => {
    let asked = 0;
    const certificate = makeCertificate("DNS:localhost", "IP:127.0.0.1");
    const server = createHttpsServer(certificate, (_request, response) => {
      asked += 1;
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using client = createTestClient(`https://me:secret@127.0.0.1:${port}`, { retries: 1 });
    const error = await client.fetchJson("/api/v1/", asIs).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NetworkError);
    const message = expect.stringContaining("self-signed certificate");
    const hint = expect.stringContaining("NODE_EXTRA_CA_CERTS");
    expect(error).toMatchObject({ exitCode: 5, message, hint });
    expect(asked).toBe(0);
    server.close();
  });
});

it("a service that says nothing of TLS runs into the time-out", { tags: ["long"] }, async () => {
  const server = createServer((socket) => socket.on("error", () => {}).resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await using client = createTestClient(`https://127.0.0.1:${port}`, { retries: 0, timeoutMs: 100 });
  await expect(client.fetchJson("/api/v1/", asIs)).rejects.toBeInstanceOf(TimeoutError);
  server.close();
});
