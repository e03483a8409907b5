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

/** The servers that each value of `target_session_attrs` wants, as in libpq: a choice for each round over the hosts. */
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
 * Where a policy would hide rows from this role, Postgres refuses the statement instead: a table must not look empty.
 */
const OURS = {
  TimeZone: "UTC",
  DateStyle: "ISO, MDY",
  IntervalStyle: "postgres",
  standard_conforming_strings: "on",
  array_nulls: "on",
  extra_float_digits: "1",
  default_transaction_isolation: "read committed",
  row_security: "off",
};

/**
 * No statement waits for ever, where neither the server, the database, the role nor the URL say how long it may. The longest
 * honest one is the copy of a large table to a slow disk.
 */
const BOUNDS = { lock_timeout: "5min", statement_timeout: "6h" };

/** A pooler that lends sessions keeps these for each of its clients, since the server reports their changes. */
const KEPT_BY_POOLERS = ["timezone", "datestyle", "standard_conforming_strings", "application_name"];

/** The statements that make the settings of a session. Ours always hold. */
export interface SessionSettings {
  /**
   * All settings, where the session is that of the process with this number. Where a pooler lends its sessions, it announces numbers of
   * its own: then nothing is set, which would reach other clients of the pooler, and no row is returned.
   */
  own(pid: number): string;
  /** Those that also such a pooler keeps for each client. */
  lent: string;
  /** The others, for one transaction in such a session: empty where there are none. They take no snapshot. */
  local: string;
}

/**
 * The settings in `wanted`, of which a later one of the same name wins, ours, and bounds for what nobody else bounds. Values are read as
 * at the start of a session, lists included. The statements fail for a setting that the server does not know.
 */
export function sessionSettings(...wanted: Record<string, string>[]): SessionSettings {
  const settings = new Map<string, string>();
  for (const [name, value] of [...wanted, OURS].flatMap(Object.entries<string>))
    settings.set(name.toLowerCase(), value);
  const bounds = Object.entries(BOUNDS)
    .filter(([name]) => !settings.has(name))
    .map(([name, value]) =>
      set(name, `coalesce(nullif(pg_catalog.current_setting('${name}'), '0'), '${value}')`),
    );
  const all = [...settings].map(([name, value]) => set(name, quote(value)));
  const isKept = ([name]: [string, string]) => KEPT_BY_POOLERS.includes(name);
  const kept = [...settings].filter(isKept).map(([name, value]) => set(name, quote(value)));
  const others = [...settings].filter((one) => !isKept(one));
  return {
    own: (pid) => `select ${[...all, ...bounds].join(", ")} where pg_catalog.pg_backend_pid() = ${pid}`,
    lent: `select ${kept.join(", ")}`,
    local: others.map(([name, value]) => `set local ${localName(name)} = ${listed(name, value)}`).join("; "),
  };
}

const set = (name: string, value: string) => `pg_catalog.set_config(${quote(name)}, ${value}, false)`;

/** Right for each value of `standard_conforming_strings`, which is not set yet. */
function quote(text: string): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}

/** As in `my_extension.setting`. A default, as that of the isolation, comes too late for the transaction that has begun. */
const localName = (name: string) =>
  name
    .replace(/^default_(?=transaction_)/, "")
    .split(".")
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join(".");

/** \`set\` takes each schema as a value of its own. */
function listed(name: string, value: string): string {
  if (name !== "search_path") return quote(value);
  const schemas = value.split(",").map((one) => one.trim().replace(/^"(.*)"$/, "$1"));
  return schemas.map(quote).join(", ");
}

/**
 * The start of a session, between the driver and the server. The driver would send the settings during the login, which a pooler
 * refuses, and it cannot run a statement before all others. So the server's first "ready" is held back until the settings are made:
 *
 *   login ──ready──▶ settings ──ready, a row came──▶ open      the driver gets "ready", then everything as it comes
 *                             ──ready, without a row──▶ lending ──ready──▶ open, in sessions that a pooler lends
 *   settings, lending ──error──▶ refused                       the driver gets the error; the connection is useless
 */
type SessionState = "login" | "settings" | "lending" | "open" | "refused";

/** No message of a login is nearly as long. A longer one does not come from Postgres, or is an attack. */
const LONGEST_MESSAGE = 1024 * 1024;
/** The type and the length of a message. */
export const HEAD_BYTES = 5;

const READY = code("Z");
const ERROR = code("E");
const ROW = code("D");
const ANSWER = [code("T"), ROW, code("C")];
/** The number of the session's process, which a pooler makes up. */
const PROCESS = code("K");

export class SessionStart {
  readonly #settings: SessionSettings;
  #state: SessionState = "login";
  #kept = Buffer.alloc(0);
  #pid = 0;
  #isOwn = false;

  constructor(settings: SessionSettings) {
    this.#settings = settings;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** True where a pooler lends the sessions. It may give another one to each transaction. Known once it is open. */
  get isLent(): boolean {
    return !this.#isOwn;
  }

  /**
   * Takes bytes from the server, split anywhere. Gives what goes on to the driver, and what is sent to the server first.
   * Throws an error with a `code` if they are not Postgres' protocol.
   */
  receive(chunk: Buffer) {
    const bytes = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    const toDriver: Buffer[] = [];
    const toServer: Buffer[] = [];
    let at = 0;
    while (this.#state !== "open" && bytes.length - at >= HEAD_BYTES) {
      const length = bytes.readUInt32BE(at + 1);
      if (length < 4 || length > LONGEST_MESSAGE) throw notPostgres();
      const end = at + 1 + length;
      if (end > bytes.length) break;
      const message = bytes.subarray(at, end);
      const type = message[0] ?? 0;
      if (this.#state === "refused") {
        // The driver has the error. It must not hear of a session that is ready.
      } else if (type === READY) {
        const statement = this.#next();
        if (statement === null) toDriver.push(message);
        else toServer.push(simpleQuery(statement));
      } else if (this.#state === "login") {
        if (type === PROCESS && length >= 8) this.#pid = message.readInt32BE(HEAD_BYTES);
        toDriver.push(message);
      } else if (!ANSWER.includes(type)) {
        toDriver.push(message);
        if (type === ERROR) this.#state = "refused";
      } else if (this.#state === "settings" && type === ROW) this.#isOwn = true;
      at = end;
    }
    const rest = bytes.subarray(at);
    if (this.#state === "open") toDriver.push(rest);
    this.#kept = this.#state === "open" ? Buffer.alloc(0) : Buffer.from(rest);
    return { toDriver: Buffer.concat(toDriver), toServer: Buffer.concat(toServer) };
  }

  /** The server is ready. Gives the next statement; null where the session is open. */
  #next(): string | null {
    if (this.#state === "login") {
      this.#state = "settings";
      return this.#settings.own(this.#pid);
    }
    if (this.#state === "settings" && !this.#isOwn) {
      this.#state = "lending";
      return this.#settings.lent;
    }
    this.#state = "open";
    return null;
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
