/** A server of `DATABASE_URL`, as `target_session_attrs` chooses among them. */
export interface ServerKind {
  /** It follows a primary, and takes no writes. */
  isStandby: boolean;
  /** Its sessions take no writes unless they say otherwise. */
  isReadOnly: boolean;
}

/** As in "db1:5432 is a standby". */
export function nameKind({ isStandby, isReadOnly }: ServerKind): string {
  if (isStandby) return "is a standby";
  return isReadOnly ? "takes no writes" : "is a primary";
}

type Choice = (kind: ServerKind) => boolean;

const isStandby: Choice = (kind) => kind.isStandby;
const takesWrites: Choice = (kind) => !kind.isStandby && !kind.isReadOnly;

/** What each value of `target_session_attrs` wants, with the meanings that libpq gives them: a choice for each round over the hosts. */
export const SESSION_ATTRS: Record<string, readonly Choice[]> = {
  "read-write": [takesWrites],
  "read-only": [(kind) => !takesWrites(kind)],
  primary: [(kind) => !kind.isStandby],
  standby: [isStandby],
  "prefer-standby": [isStandby, () => true],
};

/**
 * Reads libpq's parameter `options` as a server does: words between spaces, where a backslash escapes the next character.
 * Gives the settings in it (`-c name=value`, `-cname=value`, `--name=value`), and the `rest`, such as the `endpoint=…` by which
 * a provider finds the server. Never throws.
 */
export function parseStartupOptions(text: string) {
  const words = [...text.matchAll(/(?:\\.|[^\s\\])+/gs)].map(([word]) => word);
  const session: Record<string, string> = {};
  const rest: string[] = [];
  for (let at = 0; at < words.length; at++) {
    let word = words[at] ?? "";
    if (word === "-c" && at + 1 < words.length) word += words[++at];
    const setting = /^(?:-c|--)([^=]+)=(.*)$/s.exec(word);
    if (setting === null) rest.push(word);
    else session[plain(setting[1]).replaceAll("-", "_")] = plain(setting[2]);
  }
  return { session, rest: rest.length === 0 ? undefined : rest.join(" ") };
}

function plain(escaped = ""): string {
  return escaped.replace(/\\(.)/gs, "$1");
}

/**
 * Settings that what we read and write depends on, whatever the server, the database, the role or the URL say. Times are
 * sent in the zone and style of the session. The quoting of texts and the format of arrays and numbers depend on settings too.
 * A transaction that needs a higher level asks for it; another default would make each of ours fail beside others.
 */
const OURS = {
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  standard_conforming_strings: "on",
  array_nulls: "on",
  extra_float_digits: "1",
  default_transaction_isolation: "read committed",
};

/**
 * No statement waits for ever, where neither the server, the database, the role nor the URL say how long it may. The longest
 * honest one is the copy of a large table to a slow disk.
 */
const BOUNDS = { lock_timeout: "5min", statement_timeout: "6h" };

/**
 * The statement that makes the settings of a session: ours, which always hold, `wanted`, and bounds for what has none. A later
 * setting of the same name wins. Values are read as at the start of a session, lists included. The statement fails for a
 * setting that the server does not know.
 */
export function sessionStatement(...wanted: Record<string, string>[]): string {
  const settings = new Map<string, string>();
  for (const [name, value] of Object.entries(BOUNDS))
    settings.set(name, `coalesce(nullif(pg_catalog.current_setting('${name}'), '0'), '${value}')`);
  for (const [name, value] of [...wanted, OURS].flatMap(Object.entries<string>))
    settings.set(name.toLowerCase(), quote(value));
  const calls = [...settings].map(
    ([name, value]) => `pg_catalog.set_config(${quote(name)}, ${value}, false)`,
  );
  return `select ${calls.join(", ")}`;
}

/** Right for each value of `standard_conforming_strings`, which is not set yet. */
function quote(text: string): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/**
 * The start of a session, between the driver and the server. The driver would send the settings during the
 * login, which a pooler refuses, and it cannot run a statement before all others. So the server's first
 * "ready" is held back until the settings are made:
 *
 *   login ──ready──▶ settings ──ready──▶ open       the driver gets "ready", then everything as it comes
 *                             ──error──▶ refused    the driver gets the error; the connection is useless
 */
type SessionState = "login" | "settings" | "open" | "refused";

/** No message of a login is nearly as long. A longer one does not come from Postgres, or is an attack. */
const LONGEST_MESSAGE = 1024 * 1024;
/** The type and the length of a message. */
export const HEAD_BYTES = 5;

const READY = code("Z");
const ERROR = code("E");
const ANSWER = [code("T"), code("D"), code("C")];

export class SessionStart {
  readonly #statement: string;
  #state: SessionState = "login";
  #kept = Buffer.alloc(0);

  constructor(statement: string) {
    this.#statement = statement;
  }

  get state(): SessionState {
    return this.#state;
  }

  /**
   * Takes bytes from the server, split anywhere. Gives what goes on to the driver, and what is sent to the server first.
   * Throws an error with a `code` if they are not Postgres' protocol.
   */
  receive(chunk: Buffer) {
    const bytes = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    const toDriver: Buffer[] = [];
    let toServer: Buffer | null = null;
    let at = 0;
    while (this.#state !== "open" && bytes.length - at >= HEAD_BYTES) {
      const length = bytes.readUInt32BE(at + 1);
      if (length < 4 || length > LONGEST_MESSAGE) throw notPostgres();
      const end = at + 1 + length;
      if (end > bytes.length) break;
      const type = bytes[at];
      if (this.#state === "login" && type === READY) {
        this.#state = "settings";
        toServer = simpleQuery(this.#statement);
      } else if (this.#state === "settings" && type === READY) {
        this.#state = "open";
        toDriver.push(bytes.subarray(at, end));
      } else if (this.#state === "login" || (this.#state === "settings" && !ANSWER.includes(type ?? 0))) {
        toDriver.push(bytes.subarray(at, end));
        if (this.#state === "settings" && type === ERROR) this.#state = "refused";
      }
      at = end;
    }
    const rest = bytes.subarray(at);
    if (this.#state === "open") toDriver.push(rest);
    this.#kept = this.#state === "open" ? Buffer.alloc(0) : Buffer.from(rest);
    return { toDriver: Buffer.concat(toDriver), toServer };
  }
}

function simpleQuery(statement: string): Buffer {
  const text = Buffer.from(`${statement}\0`, "utf8");
  const head = Buffer.alloc(HEAD_BYTES);
  head[0] = code("Q");
  head.writeUInt32BE(text.length + 4, 1);
  return Buffer.concat([head, text]);
}

function code(letter: string): number {
  return letter.charCodeAt(0);
}

function notPostgres(): Error {
  return Object.assign(new Error("the server there does not speak Postgres' protocol"), { code: "08P01" });
}
