import { resolve } from "node:path";
import { abortable, compose, piece, runStatement, type Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { openDuckDb } from "../export/parquet.ts";
import { HAS_TEXT, LOG_HASH, type LogKey, readHeld, storedLogs } from "./export-logs.ts";
import { isIntact, type LogFile, monthOf, readLogFolder } from "./log-folder.ts";

const HELD_LOGS = piece("held_logs", import.meta.url);
const REMOVE_LOGS = piece("remove_logs", import.meta.url);

interface LogPruneOptions {
  sql: Sql;
  /** An export of logs. */
  folder: string;
  /** Logs of older builds may be removed. An ISO time. */
  horizon: string;
  sourceTimezone: string;
  /** Count, remove nothing. */
  isDry: boolean;
  signal: AbortSignal;
}

export interface LogPruneCounts {
  removed: number;
  /** The room that their texts took in the table. */
  bytes: number;
  /** Older logs that the export does not hold as they are in the mirror. They stay. */
  not_exported: number;
  /** Files of the export that are missing or damaged. No log was removed because of them. */
  damaged: string[];
}

/**
 * Removes the logs of old finished builds that the export holds, and notes where each is (`mirror.archived_logs`). Each
 * file is read back: a log goes only if the texts that were read are those that the mirror has as it goes. What was
 * removed is committed, some thousand logs at a time, also when it ends early. Safe to repeat. Throws ConfigError where
 * there is no export, StoreError, or the signal's reason.
 */
export async function pruneLogs(options: LogPruneOptions): Promise<LogPruneCounts> {
  const { sql, isDry, signal } = options;
  const folder = resolve(options.folder);
  const files = await readLogFolder(folder);
  const duckDb = await openDuckDb(signal);
  const counts: LogPruneCounts = { removed: 0, bytes: 0, not_exported: 0, damaged: [] };
  try {
    await withStoreErrors("prune logs", async () => {
      const months = await countOld(options);
      for (const file of files) {
        if (!months.has(monthOf(file) ?? "")) continue;
        if (!(await isIntact(folder, file, signal))) {
          counts.damaged.push(file.path);
          continue;
        }
        for await (const logs of readHeld(duckDb, resolve(folder, file.path))) {
          const { removed, bytes } = await remove(options, folder, file, logs);
          counts.removed += removed;
          counts.bytes += bytes;
        }
      }
      const old = [...months.values()].reduce((sum, logs) => sum + logs, 0);
      counts.not_exported = Math.max(0, old - counts.removed);
      // Postgres warns where the role may not. The room is then free when autovacuum comes.
      if (!isDry && counts.removed > 0) await abortable(sql`vacuum (skip_locked) mirror.build_logs`, signal);
    });
    return counts;
  } finally {
    duckDb.close();
  }
}

/** By its date, and a build without one by when it was first seen. */
const isOld = ({ horizon, sourceTimezone }: LogPruneOptions) => compose`
  coalesce(build.date at time zone ${sourceTimezone}::text, build.first_seen_at) < ${horizon}::timestamptz and ${HAS_TEXT}`;

/** Counts the old logs of each month. */
async function countOld(options: LogPruneOptions): Promise<Map<string, number>> {
  const statement = compose`
    select month, count(*)::float8 as logs from ${storedLogs(options.sourceTimezone)}
    where ${isOld(options)} group by month`;
  const counted = runStatement<{ month: string; logs: number }>(options.sql, statement);
  const rows = await abortable(counted, options.signal);
  return new Map(rows.map(({ month, logs }) => [month, logs]));
}

/** Removes those of the logs of a file that are old, and the same in the mirror. A log that is being written stays. */
async function remove(options: LogPruneOptions, folder: string, file: LogFile, logs: readonly LogKey[]) {
  const held = HELD_LOGS({
    ids: compose.param(logs.map(({ build_id }) => build_id)),
    hashes: compose.param(logs.map(({ sha256 }) => sha256)),
    storedLogs: storedLogs(options.sourceTimezone),
    isOld: isOld(options),
    month: monthOf(file) ?? "",
    logHash: LOG_HASH,
    lock: !options.isDry && compose`for update of log skip locked`,
  });
  const statement = options.isDry
    ? compose`select count(*)::float8 as removed, coalesce(sum(size), 0) as bytes from (${held}) as held`
    : REMOVE_LOGS({ held, sha256: file.sha256, folder, path: file.path });
  const counted = runStatement<{ removed: number; bytes: number }>(options.sql, statement);
  const [row] = await abortable(counted, options.signal);
  return row ?? { removed: 0, bytes: 0 };
}
