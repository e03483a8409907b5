import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const HAS_OPENSSL = spawnSync("openssl", ["version"]).status === 0;

/** A key, and a certificate for these names (`DNS:localhost`, `IP:127.0.0.1`) that nobody but itself signed. */
export const makeCertificate = (...names: string[]) => make(names, []);

export const makeExpiredCertificate = (...names: string[]) => make(names, ["-days", "-1"]);

function make(names: readonly string[], signedAnew: readonly string[]): { cert: Buffer; key: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), "docmirror-https-"));
  try {
    const [cert, key] = [join(folder, "server.crt"), join(folder, "server.key")];
    const made = spawnSync("openssl", [
      ...["req", "-new", "-x509", "-nodes", "-days", "2", "-subj", "/CN=localhost"],
      // To find the primes of an RSA key takes a tenth of a second.
      ...["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
      ...["-addext", `subjectAltName=${names.join(",")}`, "-out", cert, "-keyout", key],
    ]);
    if (made.status !== 0) throw new Error(made.stderr.toString());
    if (signedAnew.length > 0)
      spawnSync("openssl", ["x509", "-in", cert, "-signkey", key, "-out", cert, ...signedAnew]);
    return { cert: readFileSync(cert), key: readFileSync(key) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
