/** The ends of the program: the code, its meaning, and the next step of a person or a script. */
export const EXITS = {
  done: [0, "done", ""],
  bug: [1, "a bug", "report it with the output of `--verbose`"],
  usage: [2, "wrong flags or settings; nothing was done", "correct them"],
  partial: [
    3,
    "partial: the stored data is right, but something is missing or held back; `verify`: a record is wrong",
    "read the summary; the next run tries again",
  ],
  database: [4, "the database cannot be used, or was away for over a minute", "repair it; nothing is lost"],
  upstream: [
    5,
    "the service cannot be reached or limits us, after all retries; `notify`: the receiver took no notice",
    "run again later; the run resumes",
  ],
  interfaceChanged: [
    6,
    "the service does not speak this interface, or the base URL is wrong",
    "run `doctor`",
  ],
  schemaVersion: [
    7,
    "the schema is older or newer than the program, or there is no mirror yet",
    "run `migrate`, upgrade, or run `sync`",
  ],
  unprinted: [
    8,
    "all was done and stored, and its result could not be printed",
    "make room; `status` shows the last runs, so do not run it again for that",
  ],
  locked: [
    10,
    "another run is active, or leads where a watch wants to; or another one took over from this one",
    "wait for it",
  ],
  stale: [11, "`status --max-age` found the mirror stale", "look at the last runs"],
  notFound: [12, "there is no such record, here or at the service", "check the id or slug"],
  interrupted: [130, "stopped by Ctrl-C, cleanly", "run again; the run resumes"],
  terminated: [143, "stopped by SIGTERM or SIGHUP, cleanly", "run again; the run resumes"],
} as const;

export type ExitName = keyof typeof EXITS;

/** The codes alone. The class of an error says what the caller does next, by its code too. */
export const EXIT = Object.fromEntries(Object.entries(EXITS).map(([name, [code]]) => [name, code])) as {
  readonly [Name in ExitName]: (typeof EXITS)[Name][0];
};

export interface ErrorFacts {
  cause?: unknown;
  /** The advice to the reader, one sentence or a command. */
  hint?: string | undefined;
}

/** The base of all errors that are not bugs: `message` says what was tried and what came back, `hint` what to do. */
export class MirrorError extends Error {
  override name = "MirrorError";
  readonly exitCode: number = EXIT.bug;
  readonly hint: string | undefined;

  constructor(message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.hint = facts.hint;
  }
}

/** Flags, settings or arguments that cannot be used. Nothing was done. */
export class ConfigError extends MirrorError {
  override name = "ConfigError";
  override readonly exitCode = EXIT.usage;
}

/** All was done, and only its result could not be printed. */
export class UnprintedError extends MirrorError {
  override name = "UnprintedError";
  override readonly exitCode = EXIT.unprinted;
}

/** The mirror or the service, whichever was asked, has no such record. Asking again will not help. */
export class NotFoundError extends MirrorError {
  override name = "NotFoundError";
  override readonly exitCode = EXIT.notFound;
}

export interface UpstreamFacts extends ErrorFacts {
  url: string;
}

/** The head of a reply. */
export interface Reply {
  /** The address that answered, without user and password. */
  readonly url: string;
  readonly status: number;
  /** By name in lower case. Several of one name are joined by ", ". */
  readonly headers: Readonly<Partial<Record<string, string>>>;
  /** The service's own name for the request: its header `X-Request-Id`. Null without one. */
  readonly requestId: string | null;
}

/** The service did not give a usable reply. `url` never carries credentials. */
export class UpstreamError extends MirrorError {
  override name = "UpstreamError";
  override readonly exitCode: number = EXIT.upstream;
  readonly url: string;
  /** The reply that was not usable. Undefined when none came, or none as a whole. */
  declare readonly reply: Reply | undefined;
  /** Its body: the value where it is JSON, else its text; of a long one the first 64 KiB, as text. Undefined without `reply`. */
  declare readonly body: unknown;

  constructor(message: string, facts: UpstreamFacts) {
    super(message, facts);
    this.url = facts.url;
  }
}

/** Adds the reply to the error that it led to. It is not enumerable, so neither a log nor a console prints a body. */
export function attachReply<E extends UpstreamError>(error: E, reply: Reply, body: unknown): E {
  const kept = (value: unknown) => ({ value, configurable: true });
  return Object.defineProperties(error, { reply: kept(reply), body: kept(body) });
}

/** A reply whose status is not a success. */
export class HttpStatusError extends UpstreamError {
  override name = "HttpStatusError";
  readonly status: number;
  /** The wait the server asked for in milliseconds, when its `Retry-After` could be read. */
  readonly retryAfterMs: number | undefined;
  /** The moment at which the request was sent; for a reply from a cache, at which that got it. Undefined without a reply. */
  readonly askedAt: Date | undefined;
  readonly observedAt: Date | undefined;

  constructor(
    message: string,
    facts: UpstreamFacts & Partial<Omit<HttpStatusError, keyof UpstreamError>> & { status: number },
  ) {
    super(message, facts);
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.askedAt = facts.askedAt;
    this.observedAt = facts.observedAt;
  }
}

/** No reply: refused, reset, unknown host, TLS. */
export class NetworkError extends UpstreamError {
  override name = "NetworkError";
}

/** No reply, for a reason that the next try would meet again: TLS, a head that is too long, or a proxy that refuses. */
export class LastingNetworkError extends NetworkError {
  override name = "LastingNetworkError";
}

/** No whole reply within the time allowed. */
export class TimeoutError extends UpstreamError {
  override name = "TimeoutError";
}

/** A whole reply that does not follow this interface. Asking again will not help. */
export class UnexpectedShapeError extends UpstreamError {
  override name = "UnexpectedShapeError";
  override readonly exitCode = EXIT.interfaceChanged;
}

/** The base URL is wrong: the service redirects elsewhere, or this port expects another scheme. Not asked for again. */
export class WrongAddressError extends UnexpectedShapeError {
  override name = "WrongAddressError";
}

/** Postgres refused or could not be reached. `sqlstate` is Postgres' five characters, or the socket's code. */
export class StoreError extends MirrorError {
  override name = "StoreError";
  override readonly exitCode: number = EXIT.database;
  readonly sqlstate: string | undefined;

  constructor(message: string, facts: ErrorFacts & { sqlstate?: string | undefined } = {}) {
    super(message, facts);
    this.sqlstate = facts.sqlstate;
  }
}

/** The database's schema is older or newer than this program. */
export class SchemaVersionError extends StoreError {
  override name = "SchemaVersionError";
  override readonly exitCode = EXIT.schemaVersion;
}

/** Another process does at the moment what one process at a time may do. */
export class LockedError extends MirrorError {
  override name = "LockedError";
  override readonly exitCode = EXIT.locked;
  readonly heldBy: string | null;

  constructor(message: string, facts: ErrorFacts & { heldBy?: string | null } = {}) {
    super(message, facts);
    this.heldBy = facts.heldBy ?? null;
  }
}

/** Each asks the program to stop. A closed terminal or SSH connection sends SIGHUP. */
export const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

/** The program was asked to stop, which is not a failure. Committed data stays, and the checkpoint matches it. */
export class StoppedError extends MirrorError {
  override name = "StoppedError";
  override readonly exitCode: number;

  constructor(signal: StopSignal) {
    super(`stopped by ${signal}`);
    this.exitCode = signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated;
  }
}

/** The advice for a certificate that is not trusted. Node reads the variable when it starts, so one in `.env` does nothing. */
export const TRUST_AUTHORITY =
  "if your own certificate authority signed it, start docmirror with NODE_EXTRA_CA_CERTS=FILE in its environment: Node does not read it from `.env`";

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

type Fault = readonly [what: string, hint: string];
const DENIED: Fault = ["no permission to write there", "choose a place that you may write to"];
const IN_THE_WAY: Fault = ["a file is in the way", "choose another place"];
const MOUNTED: Fault = ["it is a mount point", "name a folder in it"];
const NO_FILES: Fault = ["it takes no such files", "choose another place"];

/** The system's codes for a place that cannot be written to, in words and with advice. */
const FAULTS: Readonly<Record<string, Fault>> = {
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: ["it cannot be written to", "choose a place that can be written to"],
  ENOENT: ["its folder is not there, or takes no files", "choose another place"],
  ENOTDIR: IN_THE_WAY,
  EEXIST: IN_THE_WAY,
  EISDIR: ["it is a folder", "name a file"],
  ELOOP: ["it is a link to itself", "choose another place"],
  ENAMETOOLONG: ["its name is too long", "choose another name"],
  ENOSPC: ["the disk is full", "make room on the disk"],
  EDQUOT: ["the disk quota is used up", "make room on the disk"],
  EFBIG: ["it is longer than the system allows", "choose another disk, or raise the limit (ulimit -f)"],
  EIO: ["the disk fails", "choose another disk"],
  EBUSY: MOUNTED,
  EXDEV: MOUNTED,
  ENOTEMPTY: ["something else was written there meanwhile", "try again"],
  EINVAL: NO_FILES,
  ENOSYS: NO_FILES,
};

/** The system's code of an error, with what keeps a place from being written to and with advice. Undefined for any other error. */
export function placeFault(error: unknown) {
  const { code = "" } = (error instanceof Error ? error : {}) as NodeJS.ErrnoException;
  const [what, hint] = FAULTS[code] ?? [];
  return what === undefined ? undefined : { code, what, hint };
}

/**
 * Says in one sentence why `place` could not be written. The place was named by the user, so it is no bug. Any other
 * error is returned unchanged.
 */
export function toOutputError(error: unknown, place: string): unknown {
  if (error instanceof MirrorError) return error;
  const fault = placeFault(error);
  if (fault === undefined) return error;
  const { code, what, hint } = fault;
  return new ConfigError(`could not write to ${place}: ${what} (${code})`, { cause: error, hint });
}

/** Runs `fn`, and explains its failures as `toOutputError` does. */
export async function withOutputErrors<T>(place: string, fn: () => Promise<T>): Promise<T> {
  try {
    return await fn();
  } catch (error) {
    throw toOutputError(error, place);
  }
}

/**
 * V8 reserves 10 GB of addresses for each piece of WebAssembly, such as undici's parser of HTTP, and uses few of them. Any error but
 * that of a limit for addresses is returned unchanged.
 */
export function toMemoryError(error: unknown): unknown {
  if (!(error instanceof RangeError && error.message.startsWith("WebAssembly."))) return error;
  return new ConfigError("the system gives this process too few addresses of memory (`ulimit -v`)", {
    cause: error,
    hint: "set NODE_OPTIONS=--disable-wasm-trap-handler, or lift that limit and bound the memory by the service manager or the container",
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there",
  EACCES: "the permission for it is missing",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "the host is unknown",
};

/** Says in one sentence why a server cannot listen at an address that the user named. Any other error is returned unchanged. */
export function toListenError(
  error: unknown,
  { host, port, hint }: { host: string; port: number; hint: string },
): unknown {
  const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ""];
  if (reason === undefined) return error;
  return new ConfigError(`could not listen on ${host}, port ${port}: ${reason}`, { cause: error, hint });
}
