import type { Config } from "../../base/config.ts";
import { describeDatabase } from "../connection/database-url.ts";
import { type EmbeddedOptions, type EmbeddedServer, openEmbedded } from "./open-embedded.ts";

export interface OpenDatabase {
  url: string;
  /** The URL with its password masked, for messages. */
  describe: string;
  /** Set when the embedded Postgres is used. */
  embedded: Pick<EmbeddedServer, "port" | "logFile" | "startedHere"> | null;
  /** Leaves the embedded Postgres, which stops when no other process uses it. May be called twice. */
  close(): Promise<void>;
}

/** Starts the embedded database where no other is set. Does not migrate. Throws StoreError or ConfigError. */
export async function openDatabase(
  options: Pick<Config, "databaseUrl" | "dataDir"> & Pick<EmbeddedOptions, "log" | "signal">,
): Promise<OpenDatabase> {
  const { databaseUrl, dataDir, log, signal } = options;
  if (databaseUrl !== null) {
    const describe = describeDatabase(databaseUrl);
    return { url: databaseUrl, describe, embedded: null, close: async () => {} };
  }
  const { url, port, logFile, startedHere, close } = await openEmbedded({ dataDir, log, signal });
  return { url, describe: describeDatabase(url), embedded: { port, logFile, startedHere }, close };
}
