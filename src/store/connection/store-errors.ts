import { ConfigError, MirrorError, StoreError } from "../../base/errors.ts";

interface Meaning {
  what?: string;
  /** Replaces "could not …", because the trouble is the same for every action. The text of the server follows. */
  sentence?: string;
  hint: string;
  /** A retry of the same work may succeed. */
  passes?: true;
  /** The connection was never made. Some of these codes also come from files, but then without an address. */
  isUnreachable?: true;
}

/** A lock was not had in the time of `lock_timeout`. */
export const LOCK_NOT_HAD = "55P03";
/** A statement was cancelled, by a time limit or by request. */
export const QUERY_CANCELED = "57014";

const NO_ROUTE: Meaning = {
  what: "there is no network route to it",
  hint: "check host and network, then try again",
  passes: true,
  isUnreachable: true,
};
/** A statement was written to a socket just as the server closed it. */
const CLOSED: Meaning = {
  what: "the connection was closed",
  hint: "read the server's log, then try again: it restarted, or a limit such as idle_in_transaction_session_timeout ended the session",
  passes: true,
};
const DISK_FULL: Meaning = {
  hint: 'free space on the server\'s disk, then run it again: the stored data is consistent (docs/operations.md, "A full disk")',
};
const NOT_MIGRATED: Meaning = { hint: "run `docmirror migrate`" };
const UNKNOWN_ROOT: Meaning = { hint: "name its root certificate with sslrootcert=FILE in DATABASE_URL" };

const MEANINGS: Record<string, Meaning> = {
  ECONNREFUSED: {
    what: "nothing answers there",
    hint: "start Postgres, or correct host and port in DATABASE_URL (without it an embedded Postgres is used)",
    passes: true,
    isUnreachable: true,
  },
  ENOENT: {
    what: "there is no such socket",
    hint: "start Postgres, or correct the socket's folder in DATABASE_URL",
    isUnreachable: true,
  },
  EACCES: {
    what: "no right to use that socket",
    hint: "run as a user who has it, or connect over TCP",
    isUnreachable: true,
  },
  ENOTFOUND: { what: "the host is unknown", hint: "correct the host in DATABASE_URL", isUnreachable: true },
  EAI_AGAIN: {
    what: "the host name could not be resolved",
    hint: "check the name in DATABASE_URL and the DNS",
    passes: true,
    isUnreachable: true,
  },
  EHOSTUNREACH: NO_ROUTE,
  ENETUNREACH: NO_ROUTE,
  ETIMEDOUT: {
    what: "no answer came in time",
    hint: "check host, port and firewall, then try again",
    passes: true,
    isUnreachable: true,
  },
  CONNECT_TIMEOUT: {
    what: "the server did not reply in time",
    hint: "check that Postgres listens there and not another service, and that the pooler, if any, has free connections; then try again",
    passes: true,
    isUnreachable: true,
  },
  ECONNRESET: {
    hint: "read the server's log; the server may be restarting, or may not be Postgres",
    passes: true,
  },
  EPIPE: { hint: "read the server's log; it may be restarting", passes: true },
  CONNECTION_CLOSED: { hint: CLOSED.hint, passes: true },
  CONNECTION_ENDED: { what: "the connection was already closed here", hint: "try again" },
  CONNECTION_DESTROYED: { what: "the connection was closed here", hint: "try again", passes: true },
  ERR_SOCKET_CLOSED: CLOSED,
  ERR_STREAM_DESTROYED: CLOSED,
  ERR_STREAM_WRITE_AFTER_END: CLOSED,
  EPROTO: {
    hint: "the server does not speak TLS: set sslmode=disable in DATABASE_URL, or switch TLS on there",
  },
  DEPTH_ZERO_SELF_SIGNED_CERT: {
    hint: "name its certificate with sslrootcert=FILE in DATABASE_URL, or encrypt without checking: sslmode=require",
  },
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_ROOT,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_ROOT,
  ERR_TLS_CERT_ALTNAME_INVALID: {
    hint: "use the host name that is in the server's certificate, or sslmode=verify-ca in DATABASE_URL",
  },
  "08P01": {
    hint: "check that Postgres or its pooler listens there and not another service, and read the pooler's log",
  },
  STATEMENT_POOLING: {
    what: "a pooler in statement mode allows no transactions",
    hint: "use another mode (PgBouncer: pool_mode=transaction or session) or a direct connection; change DATABASE_URL",
  },
  "28P01": {
    sentence: "Postgres refuses the user or the password",
    hint: "correct user and password in DATABASE_URL",
  },
  "28000": {
    sentence: "Postgres does not accept this role",
    hint: "check that the role exists, may log in, and is allowed by pg_hba.conf; where that wants no TLS, set sslmode=disable in DATABASE_URL",
  },
  "3D000": {
    sentence: "There is no such database",
    hint: "create it (`createdb NAME`) or correct the name in DATABASE_URL",
  },
  "42501": {
    hint: "grant the role the missing rights, or use the role that owns the schemas mirror and sync",
  },
  "42P01": NOT_MIGRATED,
  "42703": NOT_MIGRATED,
  "3F000": NOT_MIGRATED,
  "2201B": { hint: "correct the pattern of that rule in report.error_rules" },
  "25006": {
    hint:
      "a standby takes no writes: DATABASE_URL must name the primary. A primary takes none while default_transaction_read_only is on, " +
      "as hosts set it when the disk is nearly full",
  },
  "25P04": { hint: "raise transaction_timeout of the role or the database, then try again" },
  "57P05": { hint: "raise idle_session_timeout of the role or the database, then try again" },
  WRONG_SERVERS: {
    hint: "wait until a standby has taken over, or correct the hosts or target_session_attrs in DATABASE_URL",
    passes: true,
  },
  "53300": {
    hint: "close other clients, or raise max_connections or the role's connection limit",
    passes: true,
  },
  "53100": DISK_FULL,
  "53200": { hint: "give the server more memory, or lower its work_mem" },
  [LOCK_NOT_HAD]: {
    hint: "another session holds the lock: end it or wait until it is done, then try again",
    passes: true,
  },
  "57P01": { hint: "the server is stopping or restarting: try again when it is up", passes: true },
  "57P02": { hint: "the server crashed and is recovering: try again in a minute", passes: true },
  "57P03": { hint: "the server is starting or stopping: try again in a minute", passes: true },
  "57014": {
    hint: "the server cancelled it: look for a session that it waited for, or raise statement_timeout for this role or in DATABASE_URL",
  },
};

/** Meanings that the code alone does not have. A server that speaks another language gets the meaning of the code. */
const BY_WORDS: readonly [RegExp, Meaning][] = [
  [
    /^time zone ".*" not recognized$/,
    {
      hint:
        "the server does not know that zone: set DOCMIRROR_SOURCE_TIMEZONE to another name of it, such as America/Chicago for US/Central, " +
        "or install the server's package tzdata-legacy",
    },
  ],
  [
    /shared memory segment/,
    {
      hint: "/dev/shm of the server is too small: give its container more (`--shm-size=256m`), or set max_parallel_workers_per_gather=0",
    },
  ],
  // A full disk, where the server has no code for it.
  [/^could not (?:write|create) init file|No space left on device/, DISK_FULL],
  [
    /unique constraint "(?:runs|changes|notices|checks|drift|prunings|quarantine|log_files)_pkey"/,
    {
      hint: "a sequence is behind its table, as after logical replication: `docmirror doctor` says how to set it",
    },
  ],
  [/create temporary tables/, { hint: "run `grant temporary on database NAME to ROLE`" }],
];

/** Postgres refuses a statement from which a policy would hide rows, since each session of ours asks for that. */
const ROW_SECURITY: Meaning = {
  hint: "row level security hides its rows from this role: `docmirror doctor` names the tables and how to change that",
};

const BY_CLASS: Record<string, Meaning> = {
  "08": { hint: "the connection broke: try again" },
  "40": { hint: "it conflicted with other sessions: try again" },
  "53": { hint: "the server lacks a resource: read its log" },
  "57": { hint: "an operator of the server intervened: read its log" },
  "58": { hint: "the server has an internal fault: read its log" },
  XX: { hint: "the server has an internal fault: read its log" },
};

/** A write was refused because the server or the session is read-only. */
export const READ_ONLY = "25006";

/**
 * Codes of a database that refuses us: a new password, other rights, a certificate that is over, a database closed for a
 * while, one that takes no writes, a full disk, a statement that took too long.
 */
const REFUSALS =
  /^(?:25006|28000|28P01|3D000|42501|55000|53\w{3}|57\w{3}|58\w{3}|XX\w{3}|EPROTO|CERT_\w+|\w+_CERT(?:_\w+)?|UNABLE_TO_\w+|ERR_(?:SSL|TLS)_\w+)$/;

/**
 * Makes a StoreError of a driver error. `doing` completes "could not …", such as "read the checkpoint".
 * Errors of docmirror and bugs (no code anywhere) are returned unchanged. A setting that the server does not know, or whose value
 * it refuses, makes a ConfigError: the others are our own, and right.
 */
export function toStoreError(error: unknown, doing: string): unknown {
  if (error instanceof MirrorError) return error;
  const source = findCoded(error);
  if (source === undefined) return error;
  if (source.isSetting) {
    const refused = `Postgres cannot use a parameter of DATABASE_URL: ${source.message} (${source.code})`;
    return new ConfigError(refused, { cause: error, hint: "correct it, or leave it out" });
  }
  const meaning = meaningOf(source);
  const facts = { cause: error, sqlstate: source.code };
  if (meaning?.isUnreachable && source.address !== undefined) {
    const hint = `${meaning.what}: ${meaning.hint}`;
    return new StoreError(`Cannot reach Postgres at ${source.address}`, { ...facts, hint });
  }
  const words = meaning?.what ?? source.message;
  const where = source.address === undefined ? "" : `${source.address}: `;
  const sentence = meaning?.sentence ?? `could not ${doing}`;
  return new StoreError(`${sentence}: ${where}${words} (${source.code})`, {
    ...facts,
    ...(meaning === undefined ? {} : { hint: meaning.hint }),
  });
}

function meaningOf({ code, message, file }: Coded): Meaning | undefined {
  if (file === "rls.c") return ROW_SECURITY;
  const byWords = BY_WORDS.find(([words]) => words.test(message))?.[1];
  // The reason for which the server ended the session (`driver/driver-socket.ts`).
  const lastWords = code === "CONNECTION_CLOSED" ? /\((\w{5})\)$/.exec(message)?.[1] : undefined;
  return (
    byWords ??
    MEANINGS[lastWords ?? code] ??
    MEANINGS[code] ??
    (isSqlstate(code) ? BY_CLASS[code.slice(0, 2)] : undefined)
  );
}

/** Runs `fn`. Errors of the driver become a StoreError that says what was being done. */
export async function withStoreErrors<T>(doing: string, fn: () => Promise<T>): Promise<T> {
  try {
    return await fn();
  } catch (error) {
    throw toStoreError(error, doing);
  }
}

/** True where a retry of the same work may succeed: a lost connection, a restart, a deadlock, a lock that is taken. */
export function isPassing(error: unknown): boolean {
  const code = sqlstateOf(error);
  if (code === undefined) return false;
  // Class 08 is the connection, and 40 what was rolled back in favour of others.
  return MEANINGS[code]?.passes === true || (isSqlstate(code) && /^(?:08|40)/.test(code));
}

/** True where the database is worth a wait. A host name that is unknown now may be known when its container is up again. */
export function isDown(error: unknown): boolean {
  return isPassing(error) || sqlstateOf(error) === "ENOTFOUND";
}

/** The same for a process that has worked with this database: what it may not do now, it was allowed to do before. */
export function isAway(error: unknown): boolean {
  return isDown(error) || REFUSALS.test(sqlstateOf(error) ?? "");
}

/** The user or the password is wrong, so that no new session can begin. */
export function isLoginRefused(error: unknown): boolean {
  return /^28/.test(sqlstateOf(error) ?? "");
}

/**
 * The answers of a standby that cancels a query because it holds up the changes to replay: a failed
 * serialization, or a deadlock with the replay. A read-only transaction gets neither for another reason.
 */
const CONFLICTS: readonly (string | undefined)[] = ["40001", "40P01"];

/** True where a standby cancelled this read, so that the same read may succeed now. */
export function isRecoveryConflict(error: unknown): boolean {
  return CONFLICTS.includes(sqlstateOf(error));
}

/** The SQLSTATE, or the code of the socket or the driver, from anywhere in the chain of causes. */
export function sqlstateOf(error: unknown): string | undefined {
  if (error instanceof StoreError && error.sqlstate !== undefined) return error.sqlstate;
  return findCoded(error)?.code;
}

/** The target of a connection in the errors of Node and the driver. `hostname` is a name that could not be resolved. */
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
  isSetting: boolean;
  /** Where the server found the fault, in its own source: the same in each language. */
  file: unknown;
}

function findCoded(error: unknown): Coded | undefined {
  // Drizzle wraps the driver's error, and Node wraps one error for each address that it tried.
  for (let depth = 0; depth < 8 && error instanceof Error; depth++) {
    if ("code" in error && typeof error.code === "string") {
      const inner =
        error instanceof AggregateError
          ? (error.errors as unknown[]).find((one) => one instanceof Error)
          : error;
      const facts = inner as Error & AddressFacts & { file?: unknown };
      const message = (error.message || facts.message).trim();
      // PgBouncer gives it the code of a broken connection, which would be worth another try.
      const code = message.includes("statement pooling mode") ? "STATEMENT_POOLING" : error.code;
      const { file } = facts;
      const isSetting = file === "guc.c" && ["42704", "22023"].includes(error.code);
      return { code, message, address: addressOf(facts), isSetting, file };
    }
    error = error.cause;
  }
  return undefined;
}

function isSqlstate(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code);
}
