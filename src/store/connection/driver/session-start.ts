/**
 * The start of a session, between the driver and the server. The driver would send the settings during the
 * login, which a pooler refuses, and it cannot run a statement before all others. So the server's first
 * "ready" is held back until the settings are made:
 *
 *   login ──ready──▶ settings ──ready──▶ open       the driver gets "ready", then everything as it comes
 *                             ──error──▶ refused    the driver gets the error; the connection is useless
 */
export type SessionState = "login" | "settings" | "open" | "refused";

/**
 * The part of the server's bytes that goes on to the driver, and the bytes to send to the server first, if
 * any.
 */
export interface Heard {
  toDriver: Buffer;
  toServer: Buffer | null;
}

/** No message of a login is nearly as long. A longer one does not come from Postgres, or is an attack. */
const LONGEST_MESSAGE = 1024 * 1024;
/** The type and the length of a message. */
const HEAD_BYTES = 5;

const READY = code("Z");
const ERROR = code("E");
/** The messages of the statement's result. They are dropped. */
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
   * Takes bytes from the server, split anywhere. Throws an error with a `code` if they are not Postgres'
   * protocol.
   */
  receive(chunk: Buffer): Heard {
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
