import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { HEAD_BYTES, type SessionSettings, SessionStart } from "./session-start.ts";

const ERROR = "E".charCodeAt(0);
const READY = "Z".charCodeAt(0);
/** The messages that the server answers by a "ready": a query and a sync. */
const ASKING = [..."QS"].map((letter) => letter.charCodeAt(0));
const LONGEST_BYTES = 4096;

/**
 * The server's reason to end a session: the sentence of the error with which `bytes` end, and its code. Null when they end otherwise. The
 * driver waits for a "ready" behind each error, which does not come then, and knows nothing but a closed connection.
 */
export function lastWords(bytes: Buffer): string | null {
  const first = Math.max(0, bytes.length - LONGEST_BYTES);
  for (let at = bytes.length - HEAD_BYTES; at >= first; at--) {
    if (bytes[at] !== ERROR || bytes.readUInt32BE(at + 1) !== bytes.length - at - 1) continue;
    const fields = new Map(
      bytes
        .toString("utf8", at + HEAD_BYTES)
        .split("\0")
        .map((field) => [field.charAt(0), field.slice(1)]),
    );
    const [message, code] = [fields.get("M"), fields.get("C")];
    if (message && code && fields.has("S")) return `${message} (${code})`;
  }
  return null;
}

/** Calls `on` with the type of each message in bytes that are split anywhere. */
function createMessageReader(on: (type: number) => void): (chunk: Buffer) => void {
  let toSkip = 0;
  let head = Buffer.alloc(0);
  return (chunk) => {
    const bytes = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    let at = toSkip;
    while (bytes.length - at >= HEAD_BYTES) {
      on(bytes.readUInt8(at));
      at += 1 + bytes.readUInt32BE(at + 1);
    }
    head = Buffer.from(bytes.subarray(at));
    toSkip = Math.max(0, at - bytes.length);
  };
}

export interface SocketEvents {
  /** A connection in use is lost. */
  onLost?(): void;
  /** A pooler lends the sessions of this connection, and may give another one to each transaction. */
  onLent?(): void;
  /** The server has said nothing for another `silentMs` to what it was asked. */
  onSilent?(): void;
  silentMs?: number | undefined;
}

/**
 * The socket that the driver gets. It passes everything on to the real socket, with two differences. Each session gets its
 * settings before the driver's first statement: see `SessionStart`. And a loss is reported with the server's last words: a lost
 * connection first emits `error`, which the driver passes to the waiting statements, and emits it again for each later one.
 * `close`, on which postgres.js lets go of its socket, follows after one turn of the event loop without a statement.
 */
export class DriverSocket extends EventEmitter {
  readonly host: string;
  readonly port: number;
  /** When the server's certificate ends. Null without one that was proven. It is read at once: a socket that is lost has none any more. */
  readonly certificateEnd: Date | null;
  readonly #raw: Socket | null;
  readonly #start: SessionStart;
  readonly #events: SocketEvents;
  /** Answers that the server owes: statements may be sent before the one before is answered. */
  #owed = 0;
  #silence: NodeJS.Timeout | undefined;
  #loss: Error | null = null;
  #lastChunk: Buffer = Buffer.alloc(0);
  #isEnding = false;
  #isQuiet = false;

  /**
   * `raw` is connected, or null for a connection that failed with `loss`. `settings` are made before the first statement.
   */
  constructor(
    raw: Socket | null,
    place: { host: string; port: number; loss?: Error },
    settings: SessionSettings,
    events: SocketEvents = {},
  ) {
    super();
    this.#events = events;
    this.#raw = raw;
    this.#start = new SessionStart(settings);
    this.host = place.host;
    this.port = place.port;
    this.certificateEnd =
      raw instanceof TLSSocket && raw.authorized ? new Date(raw.getPeerCertificate().valid_to) : null;
    if (raw === null) {
      this.#lose(place.loss ?? this.#hungUp());
      return;
    }
    const lost = (error: Error) => {
      if (this.#loss !== null) return;
      if (this.#start.state === "open") events.onLost?.();
      this.#lose(error);
    };
    const hear = createMessageReader((type) => {
      if (type === READY) this.#owed -= 1;
    });
    raw.on("data", (chunk: Buffer) => {
      if (this.#start.state === "open") hear(chunk);
      this.#listen();
      this.#lastChunk = chunk;
      if (this.#start.state === "open") this.emit("data", chunk);
      else this.#begin(raw, chunk);
    });
    raw.on("drain", () => this.emit("drain"));
    raw.on("error", lost);
    raw.on("close", () => lost(this.#hungUp()));
  }

  get readyState(): string {
    return this.#loss === null ? (this.#raw?.readyState ?? "closed") : "closed";
  }

  write(chunk: Buffer, written?: (error?: Error | null) => void): boolean {
    if (this.#loss === null && this.#raw !== null) {
      // The driver pauses while a reader of a COPY lags, and forgets it when the COPY ends meanwhile.
      this.#raw.resume();
      if (this.#start.state === "open") this.#ask(chunk);
      return this.#raw.write(chunk, written);
    }
    const loss = this.#loss ?? this.#hungUp();
    this.#isQuiet = false;
    setImmediate(() => {
      written?.(loss);
      this.#reportLoss(loss);
    });
    return true;
  }

  end(chunk: Buffer): void {
    this.#isEnding = true;
    if (this.#loss === null) this.#raw?.end(chunk);
  }

  destroy(): void {
    this.#isEnding = true;
    this.#raw?.destroy();
  }

  /** Drops the connection on purpose. Waiting statements are rejected as for any loss. */
  abandon(): void {
    this.#raw?.destroy(Object.assign(new Error("the connection was dropped"), { code: "CONNECTION_CLOSED" }));
  }

  pause(): void {
    this.#raw?.pause();
  }

  resume(): void {
    this.#raw?.resume();
  }

  setKeepAlive(isOn: boolean, delayMs: number): void {
    this.#raw?.setKeepAlive(isOn, delayMs);
  }

  /**
   * Passes on the server's messages while the session starts. A session that the server refuses is closed;
   * otherwise the driver would use it without its settings.
   */
  #begin(raw: Socket, chunk: Buffer): void {
    try {
      const { toDriver, toServer } = this.#start.receive(chunk);
      if (toServer.length > 0) raw.write(toServer);
      if (this.#start.state === "open" && this.#start.isLent) this.#events.onLent?.();
      if (toDriver.length > 0) this.emit("data", toDriver);
    } catch (error) {
      raw.destroy(error as Error);
    }
    if (this.#start.state === "refused") this.destroy();
  }

  readonly #ask = createMessageReader((type) => {
    if (ASKING.includes(type)) this.#owed += 1;
    if (this.#silence === undefined) this.#listen();
  });

  /** Begins anew to wait for the server, where it owes an answer. */
  #listen(): void {
    const { silentMs, onSilent } = this.#events;
    clearInterval(this.#silence);
    this.#silence = this.#owed > 0 && onSilent ? setInterval(onSilent, silentMs).unref() : undefined;
  }

  #lose(loss: Error): void {
    this.#loss = loss;
    this.#owed = 0;
    this.#listen();
    const report = () => {
      if (this.#isQuiet) return void this.emit("close", false);
      this.#isQuiet = true;
      setImmediate(report);
    };
    // The driver may have a write ready when the loss comes. It is written first and lost.
    setImmediate(() => {
      if (!this.#isEnding) this.#reportLoss(loss);
      setImmediate(report);
    });
  }

  /** Emits `error` only to a listener: without one it would end the process. */
  #reportLoss(loss: Error): void {
    if (this.listenerCount("error") > 0) this.emit("error", loss);
  }

  #hungUp(): Error {
    const words = lastWords(this.#lastChunk);
    const sentence = `${this.host}:${this.port} closed the connection`;
    return Object.assign(new Error(words === null ? sentence : `${sentence}: ${words}`), {
      code: "CONNECTION_CLOSED",
    });
  }
}
