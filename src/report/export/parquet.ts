import { ConfigError, MirrorError } from "../../errors.ts";

export interface Column {
  name: string;
  /** As Postgres names it. */
  type: string;
}

export interface ParquetWriter {
  /** Makes a Parquet file of a CSV file with a header, as `toCsv` writes it, and gives its number of rows. */
  convert(csvFile: string, parquetFile: string, columns: readonly Column[]): Promise<number>;
  /** May be called twice. */
  close(): void;
}

/** A timestamp with its zone becomes one that says it is in UTC. */
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

/** One thread writes a file in the order of its rows; it needs far less than this. */
const SETTINGS = {
  threads: "1",
  memory_limit: "512MB",
  // All that is used is built in, and nothing is ever fetched.
  autoinstall_known_extensions: "false",
  autoload_known_extensions: "false",
  // Nothing is to be left in the working directory.
  temp_directory: "",
};
/** In bytes: names come from strangers. What DuckDB reads at once is many times as long. */
const LONGEST_LINE = 16_000_000;

/** Starts DuckDB, in memory. Throws ConfigError where it is not installed: it is an optional dependency. */
export async function createParquetWriter(signal: AbortSignal): Promise<ParquetWriter> {
  const { DuckDBInstance } = await loadDuckDb();
  const instance = await DuckDBInstance.create(":memory:", SETTINGS);
  const connection = await instance.connect();
  const interrupt = () => connection.interrupt();
  signal.addEventListener("abort", interrupt);
  return {
    async convert(csvFile, parquetFile, columns) {
      signal.throwIfAborted();
      const types = columns
        .map((column) => `${literal(column.name)}: ${literal(duckDbType(column))}`)
        .join(", ");
      try {
        const done = await connection.runAndReadAll(`
          copy (
            select * from read_csv(${literal(csvFile)}, columns = {${types}}, auto_detect = false, header = true, delim = ',',
              quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, hive_partitioning = false,
              max_line_size = ${LONGEST_LINE})
          ) to ${literal(parquetFile)} (format parquet, compression zstd)`);
        return Number(done.getRows()[0]?.[0]);
      } catch (error) {
        signal.throwIfAborted();
        throw new MirrorError(`could not write ${parquetFile}: ${(error as Error).message}`, {
          cause: error,
        });
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
    throw new ConfigError(`Parquet files are written through DuckDB, which cannot be loaded: ${reason}`, {
      cause,
      hint: "install it beside docmirror (`npm install @duckdb/node-api`), or use --format csv, which needs nothing",
    });
  }
}

function duckDbType({ name, type }: Column): string {
  // How many digits of a second are kept says nothing here: it is never more than six.
  const known = DUCKDB_TYPES[type.replace(/\(\d+\)/, "")];
  if (known === undefined) throw new Error(`no Parquet type is known for ${name}, which is ${type}`);
  return known;
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;
