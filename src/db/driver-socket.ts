import { EventEmitter } from "node:events";
import type { Socket } from "node:net";

/** The first byte of what a client says while it logs in: a length, or a password message. All that comes later has another. */
const GREETING = 0x00;
const PASSWORD = 0x70;
/** What a request to cancel a statement has in place of the protocol's version; its answer is that the server hangs up. */
const CANCEL_CODE = 80_877_102;

/**
 * The socket that the driver is given: it passes everything on to the real one, but for the way in which a loss is told. At a `close`
 * postgres.js lets go of its socket though a statement may be about to be written, which then throws where nobody can catch it, or
 * leaves the connection in a state in which it never sends again. So a lost connection first says `error`, which the driver hands to the
 * statements that wait, and says it again to each that still comes; `close` follows when none came for a turn of the event loop.
 */
export class DriverSocket extends EventEmitter {
  /** For the driver's messages. */
  readonly host: string;
  readonly port: number;
  readonly #raw: Socket | null;
  #loss: Error | null = null;
  #isLoggedIn = false;
  #isEnding = false;
  #isQuiet = false;

  /** `raw` is connected, or null for a connection that failed with `loss`. `onLost` hears of the loss of one that had been logged in. */
  constructor(
    raw: Socket | null,
    place: { host: string; port: number; loss?: Error },
    onLost: () => void = () => {},
  ) {
    super();
    this.#raw = raw;
    this.host = place.host;
    this.port = place.port;
    if (raw === null) {
      this.#lose(place.loss ?? this.#hungUp());
      return;
    }
    const lost = (error: Error) => {
      if (this.#loss !== null) return;
      if (this.#isLoggedIn && !this.#isEnding) onLost();
      this.#lose(error);
    };
    raw.on("data", (chunk) => this.emit("data", chunk));
    raw.on("drain", () => this.emit("drain"));
    raw.on("error", lost);
    raw.on("close", () => lost(this.#hungUp()));
  }

  get readyState(): string {
    return this.#loss === null ? (this.#raw?.readyState ?? "closed") : "closed";
  }

  write(chunk: Buffer, written?: (error?: Error | null) => void): boolean {
    if (!this.#isLoggedIn && chunk.length === 16 && chunk.readUInt32BE(4) === CANCEL_CODE)
      this.#isEnding = true;
    this.#isLoggedIn ||= chunk[0] !== GREETING && chunk[0] !== PASSWORD;
    if (this.#loss === null && this.#raw !== null) return this.#raw.write(chunk, written);
    const loss = this.#loss ?? this.#hungUp();
    this.#isQuiet = false;
    setImmediate(() => {
      written?.(loss);
      this.#tellLoss(loss);
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

  pause(): void {
    this.#raw?.pause();
  }

  resume(): void {
    this.#raw?.resume();
  }

  setKeepAlive(isOn: boolean, delayMs: number): void {
    this.#raw?.setKeepAlive(isOn, delayMs);
  }

  #lose(loss: Error): void {
    this.#loss = loss;
    const tell = () => {
      if (this.#isQuiet) return void this.emit("close", false);
      this.#isQuiet = true;
      setImmediate(tell);
    };
    // What the driver had ready to be written when the loss came goes out before, to nobody.
    setImmediate(() => {
      if (!this.#isEnding) this.#tellLoss(loss);
      setImmediate(tell);
    });
  }

  /** An error without any listener would end the process. */
  #tellLoss(loss: Error): void {
    if (this.listenerCount("error") > 0) this.emit("error", loss);
  }

  #hungUp(): Error {
    return Object.assign(new Error(`${this.host}:${this.port} closed the connection`), {
      code: "CONNECTION_CLOSED",
    });
  }
}
