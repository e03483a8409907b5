/** Which logs leave, as `export --logs` and `prune --logs-older-than` both see it. */
import { join, resolve } from "node:path";
import type { DuckDBAppender } from "@duckdb/node-api";
import type { SQL } from "drizzle-orm";
import {
  abortable,
  compose,
  piece,
  runStatement,
  type Sql,
  type TransactionSql,
  writeStatement,
} from "../../store/connection/sql.ts";
import { type DuckDb, literal, openDuckDb } from "../export/parquet.ts";
import { readAnswer, withSnapshot } from "../read-answer.ts";
import { addLogFiles, isIntact, type LogFile, monthOf, type WrittenPart } from "./log-folder.ts";

const STORED_LOGS = piece("stored_logs", import.meta.url);

/**
 * The logs of builds that have ended and say something: `build`, its `log`, the `month` of the build's date, and the `bytes` of
 * the texts. That of a build that goes on may still grow.
 */
export const storedLogs = (sourceTimezone: string): SQL => STORED_LOGS({ sourceTimezone });

export const HAS_TEXT: SQL = compose`bytes > 0`;

export const LOG_HASH: SQL = compose`mirror.log_hash(log.output, log.error, log.setup, log.setup_error)`;

/** The texts of a log, in the order in which `mirror.log_hash` takes them. */
export const TEXTS = ["output", "error", "setup", "setup_error"] as const;

/** The key of the log of a build; the hash is `mirror.log_hash`, in hex. */
export type LogKey = { build_id: string; sha256: string };
type Log = LogKey & Record<(typeof TEXTS)[number], string | null>;

/** Characters of a file before compression. DuckDB holds them all while it writes. */
const PART_CHARACTERS = 32_000_000;

/** `mirror.log_hash`, of the texts that are read back. */
const READ_HASH = `sha256(${TEXTS.map((text) => `coalesce(sha256(${text}), '-')`).join(" || ")})`;

/** Writes logs to files in `folder`, month by month; a month with long logs gets several. */
function createLogParts(duckDb: DuckDb, folder: string) {
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

  const begin = () =>
    duckDb.run("hold logs", async (connection) => {
      const columns = ["build_id", ...TEXTS, "sha256"].map((name) => `${name} varchar`).join(", ");
      await connection.run(`create table logs (${columns})`);
      return connection.createAppender("logs");
    });

  return {
    async add(month: string, log: Log): Promise<void> {
      if (current?.month !== month) await flush();
      current ??= { month, rows: 0, characters: 0, appender: await begin() };
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
async function findHeld(duckDb: DuckDb, files: readonly string[], logs: readonly LogKey[]) {
  if (files.length === 0) return new Set();
  return duckDb.run("read the export", async (connection) => {
    await connection.run("create or replace table wanted (build_id varchar, sha256 varchar)");
    const appender = await connection.createAppender("wanted");
    for (const { build_id, sha256 } of logs) {
      appender.appendVarchar(build_id);
      appender.appendVarchar(sha256);
      appender.endRow();
    }
    appender.closeSync();
    const found = await connection.runAndReadAll(`
      select build_id from read_parquet([${files.map(literal).join(", ")}], hive_partitioning = false)
      semi join wanted using (build_id, sha256)`);
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

export interface LogExport {
  /** The logs that this export added. */
  added: { rows: number; files: number };
  /** Logs that are too long for a file. They stay in the mirror. */
  too_long: number;
  /**
   * Files of earlier exports that are missing or damaged, in months of which the mirror has logs. Those of their logs that
   * the mirror still has were added again.
   */
  damaged: string[];
  /** All files of the folder. */
  files: LogFile[];
}

/** Bytes of the four texts. DuckDB holds a longer log several times over. */
const LONGEST_LOG = 100_000_000;
const ASKED_AT_ONCE = 20_000;
/** Read at once from Postgres. */
const [MOST_ROWS, MOST_BYTES] = [500, 4_000_000];

type StoredLog = LogKey & { month: string; bytes: number };

/**
 * Adds the logs of finished builds that no file of the folder holds, as they are at one moment. Makes the folder where it is
 * missing. Never changes a file, so nothing is lost that an earlier export wrote. Memory does not grow with the logs. Throws
 * ConfigError, StoreError, or the signal's reason; the folder then stays as it was.
 */
export async function exportLogs(options: {
  sql: Sql;
  folder: string;
  sourceTimezone: string;
  signal: AbortSignal;
}): Promise<LogExport> {
  const { sql, sourceTimezone, signal } = options;
  const folder = resolve(options.folder);
  const duckDb = await openDuckDb(signal);
  const damaged: string[] = [];
  let tooLong = 0;
  let before: readonly LogFile[] = [];
  try {
    const files = await addLogFiles(folder, async (staging, known) => {
      before = known;
      const parts = createLogParts(duckDb, staging);
      /** By month, the places of the files that are as they were written. */
      const held = new Map<string, string[]>();
      await withSnapshot(sql, async (tx) => {
        for await (const logs of readMonths(tx, sourceTimezone, signal)) {
          const { month } = logs[0] as StoredLog;
          if (!held.has(month)) {
            const intact: string[] = [];
            for (const file of known.filter((one) => monthOf(one) === month)) {
              if (await isIntact(folder, file, signal)) intact.push(resolve(folder, file.path));
              else damaged.push(file.path);
            }
            held.set(month, intact);
          }
          const found = await findHeld(duckDb, held.get(month) ?? [], logs);
          const fresh = logs.filter(({ build_id }) => !found.has(build_id));
          const fitting = fresh.filter(({ bytes }) => bytes <= LONGEST_LOG);
          tooLong += fresh.length - fitting.length;
          for (const group of groupsOf(fitting)) {
            for (const log of await readLogs(tx, group, signal)) await parts.add(month, log);
          }
        }
      });
      return parts.end();
    });
    const added = files.filter(({ path }) => !before.some((file) => file.path === path));
    const rows = added.reduce((sum, file) => sum + file.rows, 0);
    return { added: { rows, files: added.length }, too_long: tooLong, damaged, files };
  } finally {
    duckDb.close();
  }
}

/** The logs of the mirror without their texts, by month; those of one batch are of one month. */
async function* readMonths(tx: TransactionSql, sourceTimezone: string, signal: AbortSignal) {
  const question = writeStatement(compose`
    select month, log.build_id, encode(${LOG_HASH}, 'hex') as sha256, bytes
    from ${storedLogs(sourceTimezone)} where ${HAS_TEXT} order by month, log.build_id`);
  for await (const rows of readAnswer(tx, question, { signal, batchRows: ASKED_AT_ONCE })) {
    const byMonth = new Map<string, StoredLog[]>();
    for (const [month, build_id, sha256, bytes] of rows) {
      const log = { month, build_id, sha256, bytes } as StoredLog;
      const known = byMonth.get(log.month);
      if (known) known.push(log);
      else byMonth.set(log.month, [log]);
    }
    yield* byMonth.values();
  }
}

/** So many that their texts fit into memory; one long log is a group of its own. */
function* groupsOf(logs: readonly StoredLog[]): Generator<StoredLog[]> {
  let group: StoredLog[] = [];
  let bytes = 0;
  for (const log of logs) {
    if (group.length > 0 && (group.length === MOST_ROWS || bytes + log.bytes > MOST_BYTES)) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(log);
    bytes += log.bytes;
  }
  if (group.length > 0) yield group;
}

async function readLogs(tx: TransactionSql, group: readonly StoredLog[], signal: AbortSignal) {
  const ids = group.map(({ build_id }) => build_id);
  const statement = compose`
    select build_id, output, error, setup, setup_error from mirror.build_logs
    where build_id = any (${compose.param(ids)}::text[])`;
  const found = await abortable(runStatement<Omit<Log, "sha256">>(tx, statement), signal);
  const hashes = new Map(group.map(({ build_id, sha256 }) => [build_id, sha256]));
  return found.map((log) => ({ ...log, sha256: hashes.get(log.build_id) ?? "" }));
}
