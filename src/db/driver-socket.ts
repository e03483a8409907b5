import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { SessionStart } from "./session-start.ts";

/** What a request to cancel a statement has in place of the protocol's version; its answer is that the server hangs up. */
const CANCEL_CODE = 80_877_102;

/**
 * The socket that the driver is given. It passes everything on to the real one, but for two things.
 *
 * Each session gets its settings before the driver's first statement: see `SessionStart`.
 *
 * A loss is told in another way. At a `close` postgres.js lets go of its socket though a statement may be about to be written, which then
 * throws where nobody can catch it, or leaves the connection in a state in which it never sends again. So a lost connection first
 * says `error`, which the driver hands to the statements that wait, and says it again to each that still comes; `close` follows
 * when none came for a turn of the event loop.
 */
export class DriverSocket extends EventEmitter {
  /** For the driver's messages. */
  readonly host: string;
  readonly port: number;
  readonly #raw: Socket | null;
  readonly #start: SessionStart;
  #loss: Error | null = null;
  #isEnding = false;
  #isQuiet = false;

  /**
   * `raw` is connected, or null for a connection that failed with `loss`. `settings` is the statement that each session begins with.
   * `onLost` hears of the loss of a connection that was in use.
   */
  constructor(
    raw: Socket | null,
    place: { host: string; port: number; loss?: Error },
    settings: string,
    onLost: () => void = () => {},
  ) {
    super();
    this.#raw = raw;
    this.#start = new SessionStart(settings);
    this.host = place.host;
    this.port = place.port;
    if (raw === null) {
      this.#lose(place.loss ?? this.#hungUp());
      return;
    }
    const lost = (error: Error) => {
      if (this.#loss !== null) return;
      if (this.#start.state === "open" && !this.#isEnding) onLost();
      this.#lose(error);
    };
    raw.on("data", (chunk: Buffer) => {
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
    if (this.#start.state === "login" && chunk.length === 16 && chunk.readUInt32BE(4) === CANCEL_CODE)
      this.#isEnding = true;
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

  /** Loses the connection on purpose. Statements that wait hear of it as of any loss. */
  abandon(): void {
    this.#raw?.destroy(Object.assign(new Error("the connection was left"), { code: "CONNECTION_CLOSED" }));
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

  /** Passes on what the server says while the session starts. One that it refuses is closed, or the driver would use it as it is. */
  #begin(raw: Socket, chunk: Buffer): void {
    try {
      const { toDriver, toServer } = this.#start.receive(chunk);
      if (toServer !== null) raw.write(toServer);
      if (toDriver.length > 0) this.emit("data", toDriver);
    } catch (error) {
      raw.destroy(error as Error);
    }
    if (this.#start.state === "refused") this.destroy();
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
