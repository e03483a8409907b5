import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { findCertificateEnd, withSql } from "../../../src/store/connection/connect.ts";
import { parseDatabaseUrl } from "../../../src/store/connection/database-url.ts";
import { findServerAccount } from "../../../src/store/embedded/account.ts";
import { type EmbeddedServer, openEmbedded } from "../../../src/store/embedded/open-embedded.ts";
import { HAS_OPENSSL, makeCertificate } from "../../support/certificate.ts";
import { useFolder } from "../../support/folder.ts";

describe.skipIf(!HAS_OPENSSL)("a connection over TLS", () => {
  const folder = useFolder("docmirror-tls-");
  let certificate: string;
  let sockets: string;
  let server: EmbeddedServer;
  /** As the last connection showed it. */
  let certificateEnd: Date | null;

  beforeAll(async () => {
    certificate = folder.at("server.crt");
    const key = folder.at("server.key");
    const made = makeCertificate("DNS:localhost");
    writeFileSync(certificate, made.cert);
    writeFileSync(key, made.key, { mode: 0o600 });
    sockets = folder.at("project:region:instance");
    mkdirSync(sockets);
    const { uid, gid } = findServerAccount().spawnAs;
    if (uid !== undefined && gid !== undefined)
      for (const path of [folder.path, certificate, key, sockets]) chownSync(path, uid, gid);
    const tls = { ssl: "on", ssl_cert_file: certificate, ssl_key_file: key };
    const settings = { fsync: "off", unix_socket_directories: sockets, ...tls };
    server = await openEmbedded({ dataDir: folder.at("data"), log: silentLog, settings });
  });
  afterAll(() => server?.close());

  function connectBy(host: string, query: string) {
    const url = new URL(server.url);
    if (host !== "") url.hostname = host;
    url.search = query;
    return withSql(url.href, { applicationName: "docmirror test", max: 1 }, async (sql) => {
      const [row] = await sql<{ ssl: boolean }[]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
      certificateEnd = findCertificateEnd(sql);
      return row?.ssl;
    });
  }

  test.each([
    ["127.0.0.1", "", false, true],
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

  test("shows when the certificate ends that proved the server, and none that proved nothing", async () => {
    const { validTo } = new X509Certificate(readFileSync(certificate));
    await connectBy("localhost", `sslmode=verify-full&sslrootcert=${certificate}`);
    expect(certificateEnd).toEqual(new Date(validTo));
    for (const mode of ["require", "disable"]) {
      await connectBy("127.0.0.1", `sslmode=${mode}`);
      expect(certificateEnd).toBeNull();
    }
  });

  test.each([
    "",
    "require",
  ])("a unix socket has no TLS with sslmode=%s, and the colons of Cloud SQL's are no ports", async (mode) => {
    const { port } = new URL(server.url);
    expect(await connectBy("", `host=${sockets}&port=${port}&sslmode=${mode}`)).toBe(false);
  });
});

/** A key of nothing, under the passphrase "secret". An empty one seems to open it: OpenSSL says ERR_OSSL_UNSUPPORTED. */
const ODDLY_LOCKED = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhYVAkYvtwnfwICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJyS3kGJFPHxokefn9IPU28EgZDN
XLmVg45YeBb20tMUGTH5wIlfDhCgbOREEbI73954ldOUz1QlkkbjCqg8xPmDEOLH
oDJJdSphcCTAYoewlBPH21xBfhAS7nxqTFM8h99VUWPHrU/dOpHQQ50MtGY4/NOp
B69rTDcn5rMtPkhsff8pL0cinmSYg6w9vpwWQ9jjuUSVWEgCyhzRPM88JkA9xHg=
-----END ENCRYPTED PRIVATE KEY-----
`;

describe.skipIf(!HAS_OPENSSL)("the files of a client", () => {
  const folder = useFolder("docmirror-client-key-");
  const openssl = (...args: string[]) => spawnSync("openssl", args, { cwd: folder.path });

  beforeAll(() => {
    for (const name of ["mine", "other"]) {
      const { cert, key } = makeCertificate("DNS:localhost");
      writeFileSync(folder.at(`${name}.crt`), cert);
      writeFileSync(folder.at(`${name}.key`), key);
    }
    openssl("pkey", "-in", "mine.key", "-aes256", "-passout", "pass:secret", "-out", "locked.key");
    openssl(
      "pkey",
      "-in",
      "mine.key",
      "-traditional",
      "-aes256",
      "-passout",
      "pass:secret",
      "-out",
      "old.key",
    );
    writeFileSync(folder.at("odd.key"), ODDLY_LOCKED);
    openssl("pkey", "-in", "mine.key", "-outform", "DER", "-out", "der.key");
    openssl("x509", "-in", "mine.crt", "-outform", "DER", "-out", "der.crt");
  });

  test.each([
    ["mine.crt", "locked.key", "the key of sslkey has a passphrase", /openssl pkey -in KEY -out PLAIN/],
    ["mine.crt", "odd.key", "the key of sslkey has a passphrase", /openssl pkey -in KEY -out PLAIN/],
    ["mine.crt", "old.key", "the key of sslkey has a passphrase", /openssl pkey -in KEY -out PLAIN/],
    ["mine.crt", "other.key", "the key of sslkey is not that of the certificate", /with which this/],
    ["mine.crt", "der.key", "not both in PEM", /openssl x509/],
    ["der.crt", "mine.key", "not both in PEM", /openssl x509/],
    ["mine.key", "mine.crt", "not both in PEM", /openssl x509/],
  ])("%s with %s are a fault of the settings, with a hint", (cert, key, words, hint) => {
    const url = `postgres://h/d?sslcert=${folder.at(cert)}&sslkey=${folder.at(key)}`;
    expect(() => parseDatabaseUrl(url)).toThrow(
      expect.objectContaining({
        exitCode: 2,
        message: expect.stringContaining(words),
        hint: expect.stringMatching(hint),
      }),
    );
  });

  test("that belong together are taken", () => {
    const url = `postgres://h/d?sslcert=${folder.at("mine.crt")}&sslkey=${folder.at("mine.key")}`;
    expect(parseDatabaseUrl(url).tls).toMatchObject({
      options: { key: expect.stringContaining("PRIVATE KEY") },
    });
  });
});
