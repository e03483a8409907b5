import type { DuckDBConnection } from "@duckdb/node-api";
import { installLine } from "../../base/config/program.ts";
import { ConfigError, MirrorError } from "../../base/errors.ts";

/** DuckDB in memory. */
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
const DISK_FAULTS: Readonly<Record<string, RegExp>> = {
  ENOSPC: /no space left/i,
  EDQUOT: /disk quota/i,
  EFBIG: /file too large/i,
  EROFS: /read-only file system/i,
  EACCES: /permission denied/i,
  EIO: /input\/output error/i,
};

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
        const code = Object.keys(DISK_FAULTS).find((code) => DISK_FAULTS[code]?.test(message));
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

/** Loads DuckDB once. Throws ConfigError where it is not installed. */
export async function loadDuckDb() {
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

/** A type has the name that Postgres gives it. */
export type TypedColumn = { name: string; type: string };

/** A timestamp with a zone becomes one that is marked as UTC. */
const DUCKDB_TYPES: Record<string, string> = {
  text: "VARCHAR",
  "character varying": "VARCHAR",
  smallint: "SMALLINT",
  integer: "INTEGER",
  bigint: "BIGINT",
  "double precision": "DOUBLE",
  boolean: "BOOLEAN",
  date: "DATE",
  "timestamp with time zone": "TIMESTAMPTZ",
};

/** In bytes. Names come from strangers and may be long; DuckDB's buffer is many times longer. */
const LONGEST_LINE = 16_000_000;

/** Converts a CSV file with a header, as `toCsv` writes it, to Parquet, and returns its number of rows. */
export function writeParquet(
  duckDb: DuckDb,
  csvFile: string,
  parquetFile: string,
  columns: readonly TypedColumn[],
): Promise<number> {
  const types = columns.map((column) => `${literal(column.name)}: ${literal(duckDbType(column))}`).join(", ");
  return duckDb.run(`write ${parquetFile}`, async (connection) => {
    const done = await connection.runAndReadAll(`
      copy (
        select * from read_csv(${literal(csvFile)}, columns = {${types}}, auto_detect = false, header = true, delim = ',',
          quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, hive_partitioning = false,
          max_line_size = ${LONGEST_LINE})
      ) to ${literal(parquetFile)} (format parquet, compression zstd)`);
    return Number(done.getRows()[0]?.[0]);
  });
}

function duckDbType({ name, type }: TypedColumn): string {
  // The number of digits of a second does not matter: it is never more than six.
  const known = DUCKDB_TYPES[type.replace(/\(\d+\)/, "")];
  if (known === undefined) throw new Error(`no Parquet type is known for ${name}, which is ${type}`);
  return known;
}
