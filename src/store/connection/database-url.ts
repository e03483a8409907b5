import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  type PeerCertificate,
} from "node:tls";
import { ConfigError } from "../../base/errors.ts";
import { parseStartupOptions, SESSION_ATTRS } from "./driver/session-start.ts";
import { readSettings } from "./url-parameters.ts";

export interface DatabaseAddress {
  user: string | undefined;
  password: string | undefined;
  database: string | undefined;
  /** In the order in which they are tried. A host that starts with a slash is the folder of a unix socket. */
  hosts: { host: string; port: number }[];
  /** The options of Node's `tls.connect`. An optional one gives way where the server has no TLS. A unix socket has none either. */
  tls: false | { isOptional: boolean; options: ConnectionOptions };
  targetSessionAttrs: string | undefined;
  connectTimeoutSeconds: number | undefined;
  /** The other parameters of the query, and the settings in `options`. They are set after a connection has started. */
  session: Record<string, string>;
  /** The parts of `options` that are not settings. They are sent unchanged. */
  startupOptions: string | undefined;
  /** The process that uses this URL (`nameInstance`). Each application name ends with it. */
  instance: string | undefined;
}

const DEFAULT_PORT = 5432;
/** Ours alone: it never reaches the server as a setting. */
const INSTANCE = "docmirror_instance";

const URL_FORM = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#@]*)(\/[^?#]*)?(?:\?([^#]*))?$/;

/** The same URL for one process: its name ends each application name, so that the server knows its sessions from others. */
export function nameInstance(url: string, instance: string): string {
  return `${url.trim()}${url.includes("?") ? "&" : "?"}${INSTANCE}=${instance}`;
}

/**
 * Reads a libpq connection URL: several hosts, `?host=/folder` for a unix socket, `?sslmode=`.
 * Throws ConfigError, and never repeats a password.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  // A URL with several hosts is not a valid URL, so the authority is cut out and read here.
  const match = URL_FORM.exec(text.trim());
  if (!match) throw notAnAddress();
  const [, credentials, authority = "", path = "", query = ""] = match;
  const params = new URLSearchParams(query);
  // A U+0000 ends a text on the wire: the rest would be lost or misread.
  if (/%00|\0/.test(text)) throw notAnAddress();
  // As in libpq, the last one counts, and an empty one is none.
  const take = (name: string): string | undefined => {
    const value = params.getAll(name).at(-1) || undefined;
    params.delete(name);
    return value;
  };
  const colon = credentials?.indexOf(":") ?? -1;
  const user = credentials === undefined ? "" : decode(colon < 0 ? credentials : credentials.slice(0, colon));
  const password = credentials === undefined || colon < 0 ? "" : decode(credentials.slice(colon + 1));
  const hosts = parseHosts(authority, take("host"), take("port"));
  const files = { root: take("sslrootcert"), cert: take("sslcert"), key: take("sslkey") };
  const { session, rest } = parseStartupOptions(take("options") ?? "");
  const address: DatabaseAddress = {
    user: take("user") ?? (user || undefined),
    password: take("password") || password || undefined,
    database: take("dbname") ?? (decode(path.slice(1)) || undefined),
    hosts,
    tls: parseTls(take("sslmode"), files, hosts),
    targetSessionAttrs: sessionAttrs(take("target_session_attrs")),
    connectTimeoutSeconds: positive(take("connect_timeout")),
    session,
    startupOptions: rest,
    instance: take(INSTANCE),
  };
  Object.assign(session, readSettings(params));
  return address;
}

/** A database URL that may be printed: `postgres://user:***@host:port/db`. Never throws. */
export function describeDatabase(url: string): string {
  let address: DatabaseAddress;
  try {
    address = parseDatabaseUrl(url);
  } catch {
    return "postgres://(not readable)";
  }
  const who =
    address.user === undefined ? "" : `${address.user}${address.password === undefined ? "" : ":***"}@`;
  const where = address.hosts.map(({ host, port }) =>
    host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`,
  );
  return `postgres://${who}${where.join(",")}/${address.database ?? address.user ?? ""}`;
}

/**
 * The same URL with these parameters of libpq where it has none of its own. A URL that cannot be read stays as it is, and
 * is reported when a connection is opened. Never throws.
 */
export function withDefaults(
  url: string,
  defaults: readonly (readonly [name: string, value: string])[],
): string {
  const match = URL_FORM.exec(url.trim());
  if (!match) return url;
  const [given, credentials = "", , path = "", query = ""] = match;
  const [user, password] = credentials.split(/:(.*)/s);
  const params = new URLSearchParams(query);
  const parts: Record<string, string | undefined> = { user, password, dbname: path.slice(1) };
  const missing = defaults.filter(([name]) => !(params.getAll(name).at(-1) || parts[name]));
  if (missing.length === 0) return url;
  const added = missing.map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `${given}${given.includes("?") ? "&" : "?"}${added.join("&")}`;
}

function parseHosts(authority: string, hostParam: string | undefined, portParam: string | undefined) {
  // A host of the query has no port: /cloudsql/project:region:instance is a folder.
  const named =
    hostParam?.split(",").map((host) => ({ host, port: undefined })) ?? authority.split(",").map(splitHost);
  const ports = (portParam ?? "").split(",").map(toPort);
  return named.map(({ host, port }, index) => ({
    host: host || "localhost",
    port: port ?? ports[index] ?? ports[0] ?? DEFAULT_PORT,
  }));
}

function splitHost(text: string): { host: string; port: number | undefined } {
  const match = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d*))?$/.exec(text);
  if (!match) throw notAnAddress();
  return { host: match[1] ?? decode(match[2] ?? ""), port: toPort(match[3] ?? "") };
}

function toPort(text: string): number | undefined {
  if (text === "") return undefined;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65535) throw notAnAddress();
  return port;
}

/** The meanings of libpq's sslmode. `require` alone encrypts without a check of the server's identity. */
function parseTls(
  mode: string | undefined,
  { root, cert, key }: Record<"root" | "cert" | "key", string | undefined>,
  places: DatabaseAddress["hosts"],
): DatabaseAddress["tls"] {
  const hosts = places.map(({ host }) => host);
  if (mode === "disable" || hosts.every((host) => host.startsWith("/"))) return false;
  if (root === "system" && mode !== undefined && mode !== "verify-full")
    throw new ConfigError("read DATABASE_URL: sslrootcert=system needs sslmode=verify-full", {
      hint: "write both: anybody can have a certificate that such a root signs",
    });
  const material = {
    ...(root !== undefined && root !== "system" && { ca: readTlsFile("sslrootcert", root) }),
    ...(cert !== undefined && { cert: readTlsFile("sslcert", cert) }),
    ...(key !== undefined && { key: readTlsFile("sslkey", key) }),
  };
  if (cert !== undefined || key !== undefined) assertUsableByTls(material);
  const unchecked = { isOptional: false, options: { ...material, rejectUnauthorized: false } };
  const checked = (check: ConnectionOptions["checkServerIdentity"]) => {
    return {
      isOptional: false,
      options: { ...material, rejectUnauthorized: true, checkServerIdentity: check },
    };
  };
  // A root certificate is named to be checked; the default of libpq would not check it.
  switch (mode ?? (root === undefined ? "prefer" : "verify-full")) {
    case "allow":
    case "prefer":
      return { ...unchecked, isOptional: true };
    case "require":
      return root === undefined ? unchecked : checked(() => undefined);
    case "verify-ca":
      return checked(() => undefined);
    case "verify-full":
      return checked(checkName(hosts));
    default:
      throw new ConfigError(`read DATABASE_URL: there is no sslmode "${mode}"`, {
        hint: "use disable, allow, prefer, require, verify-ca or verify-full",
      });
  }
}

/** For a host that is an IP address postgres.js passes no name to TLS, and Node then checks for "localhost". */
function checkName(hosts: string[]) {
  return (name: string, certificate: PeerCertificate): Error | undefined => {
    const candidates = hosts.includes(name) ? [name] : hosts.filter((host) => isIP(host) !== 0);
    const faults = candidates.map((host) => checkServerIdentity(host, certificate));
    return faults.includes(undefined) ? undefined : (faults[0] ?? checkServerIdentity(name, certificate));
  };
}

function readTlsFile(name: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new ConfigError(`read the file that ${name} in DATABASE_URL names: ${path} could not be read`, {
      cause,
      hint: `check the path and its permissions; where the URL does not name it, PG${name.toUpperCase()} does`,
    });
  }
}

/** A key in PEM with a passphrase. OpenSSL tries an empty one, and one time in some hundred takes what comes of it for a key of another kind. */
const LOCKED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;
/** The codes of OpenSSL for a key that is not that of the certificate. */
const OF_ANOTHER = /KEY_VALUES_MISMATCH|KEY_TYPE_MISMATCH/;

/** Why TLS cannot use the files of a client, by the code of OpenSSL, and what helps. */
function unusable(key: unknown, code: string): [what: string, hint: string] {
  if (LOCKED.test(String(key)))
    return [
      "the key of sslkey has a passphrase, and docmirror has none to give",
      "name a copy without it, for its owner alone: (umask 077 && openssl pkey -in KEY -out PLAIN)",
    ];
  if (OF_ANOTHER.test(code))
    return [
      "the key of sslkey is not that of the certificate of sslcert",
      "name the key with which this certificate was made",
    ];
  return [
    `sslcert and sslkey are not both in PEM (${code})`,
    "write them anew: openssl x509 -in CERT -out CERT.pem; openssl pkey -in KEY -out KEY.pem",
  ];
}

/** Node would say so at each connection only, as a fault of the connection. */
function assertUsableByTls(material: Pick<ConnectionOptions, "ca" | "cert" | "key">): void {
  try {
    createSecureContext(material);
  } catch (cause) {
    const [what, hint] = unusable(material.key, String((cause as NodeJS.ErrnoException).code));
    throw new ConfigError(`read DATABASE_URL: ${what}`, { cause, hint });
  }
}

function sessionAttrs(value: string | undefined): string | undefined {
  if (value === undefined || value === "any") return undefined;
  if (Object.hasOwn(SESSION_ATTRS, value)) return value;
  throw new ConfigError("read DATABASE_URL: nobody knows that target_session_attrs", {
    hint: `write one of any, ${Object.keys(SESSION_ATTRS).join(", ")}`,
  });
}

/** As in libpq, zero and less is no limit of its own. */
function positive(value: string | undefined): number | undefined {
  if (!/^-?\d{0,9}$/.test(value ?? ""))
    throw new ConfigError("read DATABASE_URL: connect_timeout is not a number of seconds", {
      hint: "write connect_timeout=10",
    });
  return Number(value) > 0 ? Number(value) : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notAnAddress();
  }
}

function notAnAddress(): ConfigError {
  return new ConfigError("read DATABASE_URL: it is not a Postgres URL", {
    hint: "write postgres://user:password@host:5432/database; percent-encode special characters in the password (@ is %40)",
  });
}
