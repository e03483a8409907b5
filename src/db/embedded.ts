import type { Logger } from "../log.ts";

export interface EmbeddedOptions {
  /** Made when it is not there. */
  dataDir: string;
  log: Logger;
  signal?: AbortSignal;
  /** Server settings that only count when this call starts the server, as in `{ fsync: "off" }`. */
  settings?: Record<string, string>;
}

export interface EmbeddedServer {
  url: string;
  port: number;
  /** The server's own log. */
  logFile: string;
  /** False when the server was running already. */
  startedHere: boolean;
  close(): Promise<void>;
}

export async function openEmbedded(_options: EmbeddedOptions): Promise<EmbeddedServer> {
  throw new Error("being built");
}
