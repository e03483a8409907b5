import type { Config } from "../../base/config.ts";
import type { Logger } from "../../base/log.ts";
import { describeDatabase } from "../connection/database-url.ts";
import { openEmbedded } from "./open-embedded.ts";

export interface OpenDatabase {
  url: string;
  /** The URL with its password masked, for messages. */
  describe: string;
  /** Set when the embedded Postgres is used. */
  embedded: { port: number; logFile: string; startedHere: boolean } | null;
  /** Leaves the embedded Postgres, which stops when no other process uses it. May be called twice. */
  close(): Promise<void>;
}

export interface OpenDatabaseOptions extends Pick<Config, "databaseUrl" | "dataDir"> {
  log: Logger;
  signal?: AbortSignal;
}

/**
 * Decides which database is used, and starts the embedded one if needed. Does not migrate. Throws StoreError
 * or ConfigError.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenDatabase> {
  const { databaseUrl, dataDir, log, signal } = options;
  if (databaseUrl !== null) {
    return {
      url: databaseUrl,
      describe: describeDatabase(databaseUrl),
      embedded: null,
      close: async () => {},
    };
  }
  const server = await openEmbedded({ dataDir, log, ...(signal === undefined ? {} : { signal }) });
  const { url, port, logFile, startedHere } = server;
  return {
    url,
    describe: describeDatabase(url),
    embedded: { port, logFile, startedHere },
    close: () => server.close(),
  };
}
