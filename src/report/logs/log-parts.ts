import { join } from "node:path";
import type { DuckDBAppender } from "@duckdb/node-api";
import { type DuckDb, literal } from "../export/duckdb.ts";
import type { WrittenPart } from "./log-folder.ts";

/** The texts of a log, in the order in which `mirror.log_hash` takes them. */
export const TEXTS = ["output", "error", "setup", "setup_error"] as const;

/** The log of a build, or only what tells it from others. */
export interface LogKey {
  build_id: string;
  /** `mirror.log_hash`, in hex. */
  sha256: string;
}

export type Log = LogKey & Record<(typeof TEXTS)[number], string | null>;

/** Characters of a file before compression. DuckDB holds them all while it writes. */
const PART_CHARACTERS = 32_000_000;

/** `mirror.log_hash`, of the texts that are read back. */
const READ_HASH = `sha256(${TEXTS.map((text) => `coalesce(sha256(${text}), '-')`).join(" || ")})`;

/** Writes logs to files in `folder`, month by month; a month with long logs gets several. */
export function createLogParts(duckDb: DuckDb, folder: string) {
  const parts: WrittenPart[] = [];
  let current: { month: string; rows: number; characters: number; appender: DuckDBAppender } | null = null;

  async function flush(): Promise<void> {
    if (current === null) return;
    const { month, rows, appender } = current;
    current = null;
    const place = join(folder, `${parts.length}.parquet`);
    await duckDb.run(`write ${place}`, async (connection) => {
      appender.closeSync();
      await connection.run(`copy logs to ${literal(place)} (format parquet, compression zstd)`);
      await connection.run("drop table logs");
    });
    parts.push({ month, place, rows });
  }

  async function begin(month: string) {
    const columns = ["build_id", ...TEXTS, "sha256"].map((name) => `${name} varchar`).join(", ");
    const appender = await duckDb.run("hold logs", async (connection) => {
      await connection.run(`create table logs (${columns})`);
      return connection.createAppender("logs");
    });
    return { month, rows: 0, characters: 0, appender };
  }

  return {
    async add(month: string, log: Log): Promise<void> {
      if (current?.month !== month) await flush();
      current ??= await begin(month);
      const { appender } = current;
      for (const value of [log.build_id, ...TEXTS.map((text) => log[text]), log.sha256]) {
        if (value === null) appender.appendNull();
        else appender.appendVarchar(value);
        current.characters += value?.length ?? 0;
      }
      appender.endRow();
      current.rows++;
      if (current.characters >= PART_CHARACTERS) await flush();
    },
    async end(): Promise<WrittenPart[]> {
      await flush();
      return parts;
    },
  };
}

/** The ids of those of `logs` that one of the files holds. */
export async function findHeld(
  duckDb: DuckDb,
  files: readonly string[],
  logs: readonly LogKey[],
): Promise<Set<string>> {
  if (files.length === 0) return new Set();
  return duckDb.run("read the export", async (connection) => {
    await connection.run("create or replace table asked (build_id varchar, sha256 varchar)");
    const appender = await connection.createAppender("asked");
    for (const { build_id, sha256 } of logs) {
      appender.appendVarchar(build_id);
      appender.appendVarchar(sha256);
      appender.endRow();
    }
    appender.closeSync();
    const found = await connection.runAndReadAll(`
      select build_id from read_parquet([${files.map(literal).join(", ")}], hive_partitioning = false)
      semi join asked using (build_id, sha256)`);
    return new Set(found.getRows().map(([id]) => String(id)));
  });
}

/** Reads the logs of a file back, some thousand at a time: what each is, by the texts that the file has. */
export async function* readHeld(duckDb: DuckDb, file: string): AsyncGenerator<LogKey[]> {
  const result = await duckDb.run(`read ${file}`, (connection) =>
    connection.stream(
      `select build_id, ${READ_HASH} from read_parquet(${literal(file)}, hive_partitioning = false)`,
    ),
  );
  for (;;) {
    const chunk = await duckDb.run(`read ${file}`, () => result.fetchChunk());
    if (chunk === null || chunk.rowCount === 0) return;
    yield chunk.getRows().map(([id, hash]) => ({ build_id: String(id), sha256: String(hash) }));
  }
}
