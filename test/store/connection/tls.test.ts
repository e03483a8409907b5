import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { withSql } from "../../../src/store/connection/connect.ts";
import { findServerAccount } from "../../../src/store/embedded/account.ts";
import { type EmbeddedServer, openEmbedded } from "../../../src/store/embedded/open-embedded.ts";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

describe.skipIf(!hasOpenssl)("a connection over TLS", () => {
  const folder = mkdtempSync(join(tmpdir(), "docmirror-tls-"));
  const certificate = join(folder, "server.crt");
  const key = join(folder, "server.key");
  let server: EmbeddedServer;

  beforeAll(async () => {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const made = spawnSync("openssl", [
      ...["req", "-new", "-x509", "-nodes", "-days", "2", "-newkey", "rsa:2048"],
      ...[...subject, "-out", certificate, "-keyout", key],
    ]);
    expect(made.status, made.stderr.toString()).toBe(0);
    const { uid, gid } = findServerAccount().spawnAs;
    if (uid !== undefined && gid !== undefined) {
      for (const path of [folder, certificate, key]) chownSync(path, uid, gid);
    }
    const settings = { fsync: "off", ssl: "on", ssl_cert_file: certificate, ssl_key_file: key };
    server = await openEmbedded({ dataDir: join(folder, "data"), log: silentLog, settings });
  });
  afterAll(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function connectBy(host: string, query: string) {
    const url = new URL(server.url);
    url.hostname = host;
    url.search = query;
    return withSql(url.href, { applicationName: "docmirror test", max: 1 }, async (sql) => {
      const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
      return row?.ssl;
    });
  }

  test.each(["prefer", "require"])("sslmode=%s encrypts without asking who answers", async (mode) => {
    expect(await connectBy("127.0.0.1", `sslmode=${mode}`)).toBe(true);
  });

  test("sslmode=disable does not encrypt", async () => {
    expect(await connectBy("127.0.0.1", "sslmode=disable")).toBe(false);
  });

  test("sslmode=verify-full takes the certificate that is named, for its own host name", async () => {
    expect(await connectBy("localhost", `sslmode=verify-full&sslrootcert=${certificate}`)).toBe(true);
  });

  test("sslmode=verify-full refuses a certificate that nobody vouches for", async () => {
    await expect(connectBy("localhost", "sslmode=verify-full")).rejects.toMatchObject({
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
    });
  });

  test("sslmode=verify-full refuses another host's certificate, also by IP address", async () => {
    await expect(
      connectBy("127.0.0.1", `sslmode=verify-full&sslrootcert=${certificate}`),
    ).rejects.toMatchObject({
      code: "ERR_TLS_CERT_ALTNAME_INVALID",
    });
  });

  test("sslmode=verify-ca does not mind the host name", async () => {
    expect(await connectBy("127.0.0.1", `sslmode=verify-ca&sslrootcert=${certificate}`)).toBe(true);
  });
});
