import { literal, openDuckDb } from "./duckdb.ts";

export interface TypedColumn {
  name: string;
  /** As Postgres names it. */
  type: string;
}

export interface ParquetWriter {
  /** Converts a CSV file with a header, as `toCsv` writes it, to Parquet, and returns its number of rows. */
  convert(csvFile: string, parquetFile: string, columns: readonly TypedColumn[]): Promise<number>;
  /** May be called twice. */
  close(): void;
}

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

/** Throws ConfigError where DuckDB is not installed. */
export async function createParquetWriter(signal: AbortSignal): Promise<ParquetWriter> {
  const duckDb = await openDuckDb(signal);
  return {
    async convert(csvFile, parquetFile, columns) {
      const types = columns
        .map((column) => `${literal(column.name)}: ${literal(duckDbType(column))}`)
        .join(", ");
      return duckDb.run(`write ${parquetFile}`, async (connection) => {
        const done = await connection.runAndReadAll(`
          copy (
            select * from read_csv(${literal(csvFile)}, columns = {${types}}, auto_detect = false, header = true, delim = ',',
              quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, hive_partitioning = false,
              max_line_size = ${LONGEST_LINE})
          ) to ${literal(parquetFile)} (format parquet, compression zstd)`);
        return Number(done.getRows()[0]?.[0]);
      });
    },
    close: duckDb.close,
  };
}

function duckDbType({ name, type }: TypedColumn): string {
  // The number of digits of a second does not matter: it is never more than six.
  const known = DUCKDB_TYPES[type.replace(/\(\d+\)/, "")];
  if (known === undefined) throw new Error(`no Parquet type is known for ${name}, which is ${type}`);
  return known;
}
