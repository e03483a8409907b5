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

  test.each([
    ["127.0.0.1", "prefer", false, true],
    ["127.0.0.1", "require", false, true],
    ["127.0.0.1", "disable", false, false],
    ["localhost", "verify-full", true, true],
    ["localhost", "verify-full", false, "DEPTH_ZERO_SELF_SIGNED_CERT"],
    // Another host's certificate, also by its address.
    ["127.0.0.1", "verify-full", true, "ERR_TLS_CERT_ALTNAME_INVALID"],
    ["127.0.0.1", "verify-ca", true, true],
  ])("%s with sslmode=%s, its certificate named: %s, is %s", async (host, mode, isNamed, outcome) => {
    const query = `sslmode=${mode}${isNamed ? `&sslrootcert=${certificate}` : ""}`;
    expect(await connectBy(host, query).catch(({ code }) => code)).toBe(outcome);
  });
});
