import type { DuckDBConnection } from "@duckdb/node-api";
import { installLine } from "../../base/config/program.ts";
import { ConfigError, MirrorError } from "../../base/errors.ts";

export interface DuckDb {
  /**
   * Runs `fn`, and explains its failure as one to do `what`, such as "write /data/part-0.parquet". Throws the signal's
   * reason, a fault of the disk with its code, or MirrorError.
   */
  run<T>(what: string, fn: (connection: DuckDBConnection) => Promise<T>): Promise<T>;
  /** May be called twice. */
  close(): void;
}

/** One thread keeps the rows in order; it needs far less memory than this. */
const SETTINGS = {
  threads: "1",
  memory_limit: "512MB",
  // All used features are built in, so nothing may be downloaded.
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  // Nothing may be left in the working directory.
  temp_directory: "",
};
/** DuckDB says in words what the system says by a code. */
const DISK_FAULTS = [
  { said: /no space left/i, code: "ENOSPC" },
  { said: /disk quota/i, code: "EDQUOT" },
  { said: /file too large/i, code: "EFBIG" },
  { said: /read-only file system/i, code: "EROFS" },
  { said: /permission denied/i, code: "EACCES" },
  { said: /input\/output error/i, code: "EIO" },
];

/** Starts DuckDB, in memory. Throws ConfigError where it is not installed, which is left to those who want Parquet. */
export async function openDuckDb(signal: AbortSignal): Promise<DuckDb> {
  const { DuckDBInstance } = await loadDuckDb();
  const instance = await DuckDBInstance.create(":memory:", SETTINGS);
  const connection = await instance.connect();
  const interrupt = () => connection.interrupt();
  signal.addEventListener("abort", interrupt);
  return {
    async run(what, fn) {
      signal.throwIfAborted();
      try {
        return await fn(connection);
      } catch (error) {
        signal.throwIfAborted();
        const { message } = error as Error;
        const { code } = DISK_FAULTS.find(({ said }) => said.test(message)) ?? {};
        if (code !== undefined) throw Object.assign(new Error("", { cause: error }), { code });
        throw new MirrorError(`could not ${what}: ${message}`, { cause: error });
      }
    },
    close() {
      signal.removeEventListener("abort", interrupt);
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function loadDuckDb() {
  try {
    return await import("@duckdb/node-api");
  } catch (cause) {
    const [reason = ""] = (cause instanceof Error ? cause.message : String(cause)).split("\n");
    throw new ConfigError(`Parquet files need DuckDB, which cannot be loaded: ${reason}`, {
      cause,
      hint: `install it (\`${installLine("@duckdb/node-api")}\`), or export with --format csv, which does not need it`,
    });
  }
}

/** A text in a statement of DuckDB. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
