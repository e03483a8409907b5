import { MirrorError, StoreError } from "../errors.ts";

/** What a code means to the person at the keyboard: `what` came back, and what to do. */
interface Meaning {
  what?: string;
  /**
   * Stands in the place of "could not …": it is the same trouble whatever was being done. The server's own
   * words follow.
   */
  sentence?: string;
  hint: string;
}

const MEANINGS: Record<string, Meaning> = {
  ECONNREFUSED: {
    what: "nothing answers there",
    hint: "start Postgres, or correct host and port in DATABASE_URL (without it an embedded Postgres is used)",
  },
  ENOENT: {
    what: "there is no such socket",
    hint: "start Postgres, or correct the socket's folder in DATABASE_URL",
  },
  EACCES: { what: "no right to use that socket", hint: "run as a user who may, or connect over TCP" },
  ENOTFOUND: { what: "the host is unknown", hint: "correct the host in DATABASE_URL" },
  EAI_AGAIN: {
    what: "the host name could not be looked up",
    hint: "check the name in DATABASE_URL and the DNS",
  },
  EHOSTUNREACH: { what: "no way leads there", hint: "check host and network, then try again" },
  ENETUNREACH: { what: "no way leads there", hint: "check host and network, then try again" },
  ETIMEDOUT: { what: "nobody answered in time", hint: "check host, port and firewall, then try again" },
  CONNECT_TIMEOUT: {
    what: "the server did not greet us in time",
    hint: "check that Postgres listens there and not another service, and that a pooler in between has connections left; then try again",
  },
  ECONNRESET: { hint: "look into the server's log; it may be restarting, or no Postgres" },
  EPIPE: { hint: "look into the server's log; it may be restarting" },
  CONNECTION_CLOSED: {
    what: "the connection was closed",
    hint: "look into the server's log, then try again",
  },
  CONNECTION_ENDED: { what: "the connection was already closed here", hint: "try again" },
  CONNECTION_DESTROYED: { what: "the connection was closed here", hint: "try again" },
  ERR_SOCKET_CLOSED: {
    what: "the connection was closed",
    hint: "look into the server's log, then try again",
  },
  ERR_STREAM_DESTROYED: {
    what: "the connection was closed",
    hint: "look into the server's log, then try again",
  },
  ERR_STREAM_WRITE_AFTER_END: {
    what: "the connection was closed",
    hint: "look into the server's log, then try again",
  },
  EPROTO: {
    hint: "the server does not speak TLS: set sslmode=disable in DATABASE_URL, or switch TLS on there",
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    hint: "name its certificate with sslrootcert=FILE in DATABASE_URL, or encrypt without checking: sslmode=require",
  },
  SELF_SIGNED_CERT_IN_CHAIN: { hint: "name its root certificate with sslrootcert=FILE in DATABASE_URL" },
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: {
    hint: "name its root certificate with sslrootcert=FILE in DATABASE_URL",
  },
  ERR_TLS_CERT_ALTNAME_INVALID: {
    hint: "use the host name that is in the server's certificate, or sslmode=verify-ca in DATABASE_URL",
  },
  "08P01": {
    hint: "check that Postgres or its pooler listens there and not another service, and look into the pooler's log",
  },
  "26000": {
    hint: "a pooler may give one session to several connections: use session pooling (PgBouncer: pool_mode=session) or a direct connection",
  },
  "28P01": {
    sentence: "Postgres refuses the user or the password",
    hint: "correct user and password in DATABASE_URL",
  },
  "28000": {
    sentence: "Postgres does not let this role in",
    hint: "check that the role exists, may log in, and is let in by pg_hba.conf",
  },
  "3D000": {
    sentence: "There is no such database",
    hint: "create it (`createdb NAME`) or correct the name in DATABASE_URL",
  },
  "42501": { hint: "grant the role what it lacks, or use the role that owns the schemas mirror and sync" },
  "42P01": { hint: "run `docmirror migrate`" },
  "42703": { hint: "run `docmirror migrate`" },
  "3F000": { hint: "run `docmirror migrate`" },
  "2201B": { hint: "correct the pattern of that rule in report.error_rules" },
  "25006": { hint: "this server is read-only (a standby?): DATABASE_URL must name the primary" },
  "53300": { hint: "close other clients, or raise max_connections or the role's connection limit" },
  "53100": { hint: "make room on the server's disk, then run it again: what is stored is consistent" },
  "53200": { hint: "give the server more memory, or lower its work_mem" },
  "55P03": { hint: "another session holds the lock: try again when it is done" },
  "57P01": { hint: "the server is stopping or restarting: try again when it is up" },
  "57P02": { hint: "the server crashed and is recovering: try again in a minute" },
  "57P03": { hint: "the server is starting or stopping: try again in a minute" },
  "57014": { hint: "the server cancelled it: look at statement_timeout" },
};

const BY_CLASS: Record<string, Meaning> = {
  "08": { hint: "the connection broke: try again" },
  "40": { hint: "other sessions were in the way: try again" },
  "53": { hint: "the server lacks a resource: look into its log" },
  "57": { hint: "someone intervened at the server: look into its log" },
  "58": { hint: "the server has a fault of its own: look into its log" },
  XX: { hint: "the server has a fault of its own: look into its log" },
};

/** A write was refused, because the server or the session only reads. */
export const READ_ONLY = "25006";

/** Passing troubles by code; classes 08 (connection) and 40 (rolled back in favour of others) are whole. */
const PASSING = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "CONNECT_TIMEOUT",
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  // A statement that was written to a socket just as the server hung up.
  "ERR_SOCKET_CLOSED",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
  "53300",
  "55P03",
  "57P01",
  "57P02",
  "57P03",
]);

/** No connection came about. Some of these codes come from files as well, but then without an address. */
const UNREACHABLE = new Set([
  "ECONNREFUSED",
  "ENOENT",
  "EACCES",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
  "CONNECT_TIMEOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/**
 * Makes a StoreError of whatever the driver threw. `doing` completes "could not …", as in "read the checkpoint".
 * Errors of ours and bugs (no code anywhere) are given back as they are.
 */
export function toStoreError(error: unknown, doing: string): unknown {
  if (error instanceof MirrorError) return error;
  const source = findCoded(error);
  if (source === undefined) return error;
  const meaning =
    MEANINGS[source.code] ?? (isSqlstate(source.code) ? BY_CLASS[source.code.slice(0, 2)] : undefined);
  const facts = { cause: error, sqlstate: source.code };
  if (UNREACHABLE.has(source.code) && source.address !== undefined) {
    const { what, hint = "check host and port in DATABASE_URL" } = meaning ?? {};
    return new StoreError(`Cannot reach Postgres at ${source.address}`, {
      ...facts,
      hint: what === undefined ? hint : `${what}: ${hint}`,
    });
  }
  const words = meaning?.what ?? source.message;
  const where = source.address === undefined ? "" : `${source.address}: `;
  const sentence = meaning?.sentence ?? `could not ${doing}`;
  return new StoreError(`${sentence}: ${where}${words} (${source.code})`, {
    ...facts,
    ...(meaning === undefined ? {} : { hint: meaning.hint }),
  });
}

/** Runs `fn`; what the driver throws comes out as a StoreError that says what was being done. */
export async function withStoreErrors<T>(doing: string, fn: () => Promise<T>): Promise<T> {
  try {
    return await fn();
  } catch (error) {
    throw toStoreError(error, doing);
  }
}

/** Whether the same work may succeed when it is tried again: connection lost, restart, deadlock, lock not free. */
export function isPassing(error: unknown): boolean {
  const code = sqlstateOf(error);
  if (code === undefined) return false;
  return PASSING.has(code) || (isSqlstate(code) && (code.startsWith("08") || code.startsWith("40")));
}

/** The SQLSTATE, or the socket's or driver's code, wherever in the chain of causes it is. */
export function sqlstateOf(error: unknown): string | undefined {
  if (error instanceof StoreError && error.sqlstate !== undefined) return error.sqlstate;
  return findCoded(error)?.code;
}

/**
 * Where a connection went, as Node's and the driver's errors have it; `hostname` is of a name that could not
 * be looked up.
 */
interface AddressFacts {
  address?: unknown;
  hostname?: unknown;
  port?: unknown;
}

function addressOf({ address, hostname, port }: AddressFacts): string | undefined {
  const host = [address, hostname].find((one) => typeof one === "string" && one !== "");
  if (typeof host !== "string") return undefined;
  // A unix socket is a path, and its port is part of it.
  if (host.startsWith("/") || !port) return host;
  return `${host.includes(":") ? `[${host}]` : host}:${String(port)}`;
}

interface Coded {
  code: string;
  message: string;
  address: string | undefined;
}

function findCoded(error: unknown): Coded | undefined {
  // Drizzle wraps what the driver threw, and Node wraps one error for each address it tried.
  for (let depth = 0; depth < 8 && error instanceof Error; depth++) {
    if ("code" in error && typeof error.code === "string") {
      const inner =
        error instanceof AggregateError
          ? (error.errors as unknown[]).find((one) => one instanceof Error)
          : error;
      const facts = inner as Error & AddressFacts;
      return {
        code: error.code,
        message: (error.message || facts.message).trim(),
        address: addressOf(facts),
      };
    }
    error = error.cause;
  }
  return undefined;
}

function isSqlstate(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code);
}
