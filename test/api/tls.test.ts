import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NetworkError, TimeoutError } from "../../src/errors.ts";
import { createTestClient } from "../support/client.ts";

const asIs = { parse: (value: unknown) => value };
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

/** A key and a certificate for localhost that nobody but itself signed. */
function makeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), "docmirror-https-"));
  try {
    const [cert, key] = [join(folder, "server.crt"), join(folder, "server.key")];
    const made = spawnSync("openssl", [
      ...["req", "-new", "-x509", "-nodes", "-days", "2", "-newkey", "rsa:2048", "-subj", "/CN=localhost"],
      ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", cert, "-keyout", key],
    ]);
    expect(made.status, made.stderr.toString()).toBe(0);
    return { cert: readFileSync(cert), key: readFileSync(key) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe.skipIf(!hasOpenssl)("a service over TLS", () => {
  it("whose certificate nobody vouches for is refused before anything is sent, with a hint", async () => {
    let asked = 0;
    const server = createHttpsServer(makeCertificate(), (_request, response) => {
      asked += 1;
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await using client = createTestClient(`https://me:secret@127.0.0.1:${port}`, { retries: 1 });
    const error = await client.fetchJson("/api/v1/", asIs).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toMatchObject({
      exitCode: 5,
      message: expect.stringContaining("self-signed certificate"),
      hint: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
    });
    expect(asked).toBe(0);
    server.close();
  });
});

it("a service that takes the connection and says nothing of TLS runs into the time-out", async () => {
  const server = createServer((socket) => socket.on("error", () => {}).resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await using client = createTestClient(`https://127.0.0.1:${port}`, { retries: 0, timeoutMs: 100 });
  await expect(client.fetchJson("/api/v1/", asIs)).rejects.toBeInstanceOf(TimeoutError);
  server.close();
});
