import { isAhead } from "../../base/clock.ts";
import type { SettingsFor } from "../../base/config/settings.ts";
import type { UpkeepJob } from "../../base/metrics/labels.ts";
import { describePruned, findPruneMoment, prune, ROUNDS_KEPT_MS } from "../../mirror/run/prune.ts";
import { readDefinitions } from "../../report/definitions.ts";
import { exportReport } from "../../report/export/export-report.ts";
import { exportLogs } from "../../report/logs/export-logs.ts";
import { backUpIntoFolder } from "../../store/backup/backup-folder.ts";
import { withSql } from "../../store/connection/connect.ts";
import { repeatAfterConflict, type Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { findJobs, type Made, withNote } from "../../store/ledger/jobs.ts";
import type { JobDeps } from "./keep-working.ts";
import { DONE, type Job } from "./worker.ts";

const MINUTE_MS = 60_000;

type Shared = Pick<JobDeps, "database" | "clock" | "log">;
type Settings = SettingsFor<"jobs"> & { timezone: string; sourceTimezone: string };
type Make = (sql: Sql, signal: AbortSignal) => Promise<Made>;

/** The backups, the exports and the removal of old rows, where the settings say when. They hold no lease, so no run waits for them. */
export function createUpkeepJobs(settings: Settings, shared: Shared): Job[] {
  const { backupCron, backupDir, exportCron, pruneCron, timezone } = settings;
  const job = (name: UpkeepJob, cron: string, make: Make) =>
    createUpkeepJob({ ...shared, name, cron, timezone, make });
  return [
    ...(backupCron && backupDir ? [job("backup", backupCron, backUp(backupDir, settings, shared))] : []),
    ...(exportCron ? [job("export", exportCron, exportAll(settings, shared))] : []),
    ...(pruneCron ? [job("prune", pruneCron, pruneOld(settings, shared))] : []),
  ];
}

/**
 * One of them. `sync.jobs` keeps how it ended last. One that failed is tried again after 15 and 60 minutes; one that was
 * missed is made at the start.
 */
export function createUpkeepJob(
  deps: Shared & { name: UpkeepJob; cron: string; timezone: string; make: Make },
): Job {
  const { name, cron, timezone, make, database, clock, log } = deps;
  return {
    name,
    cron,
    timezone,
    retryAfterMs: [15 * MINUTE_MS, 60 * MINUTE_MS],
    async lastGoodAt(signal) {
      const { sql } = await database.ready(signal);
      const jobs = await withStoreErrors("read how jobs ended", () => findJobs(sql));
      const goodAt = jobs.find(({ job }) => job === name)?.good_at ?? null;
      return goodAt === null || isAhead(goodAt, clock.now()) ? null : new Date(goodAt);
    },
    async run(signal) {
      const { url } = await database.ready(signal);
      const from = clock.now().getTime();
      // A connection of its own: one that breaks off in the middle of a copy is given up.
      const made = await withSql(url(), { applicationName: `docmirror ${name}`, max: 1 }, (sql) =>
        withNote({ sql, clock, log, signal }, name, () => make(sql, signal)),
      );
      log.info({ job: name, ...made, duration_ms: clock.now().getTime() - from }, "upkeep done");
      return DONE;
    },
  };
}

function backUp(folder: string, { backupKeep: keep }: Settings, { clock, log }: Shared): Make {
  const definitions = readDefinitions();
  return async (sql, signal) => {
    const options = { sql, definitions, folder, keep, now: clock.now(), signal };
    const { what, bytes, left } = await backUpIntoFolder(options);
    if (left.length > 0) log.warn({ left }, "could not remove old backups");
    return { what, bytes };
  };
}

function exportAll({ exportDir, exportLogsDir, sourceTimezone }: Settings, { log }: Shared): Make {
  return async (sql, signal) => {
    const failures: unknown[] = [];
    /** Where one folder fails, the other one is written. */
    const attempt = async (write: () => Promise<unknown>) => {
      await repeatAfterConflict(write).catch((error: unknown) => failures.push(error));
      signal.throwIfAborted();
    };
    if (exportDir !== null)
      await attempt(() =>
        exportReport({ sql, folder: exportDir, format: "parquet", incremental: true, signal }),
      );
    if (exportLogsDir !== null)
      await attempt(async () => {
        const { damaged } = await exportLogs({ sql, folder: exportLogsDir, sourceTimezone, signal });
        if (damaged.length > 0) log.warn({ damaged }, "files of the exported logs are missing or damaged");
      });
    if (failures.length > 0) throw failures[0];
    return { what: [exportDir, exportLogsDir].filter((folder) => folder !== null).join(", "), bytes: null };
  };
}

function pruneOld({ historyKeepMs }: Settings, { clock }: Shared): Make {
  return async (sql, signal) => {
    const prunedAt = clock.now().toISOString();
    const moment = await withStoreErrors("read the newest run", () => findPruneMoment(sql, clock.now()));
    if (moment === null) return { what: "nothing: no run of two days agrees with the clock", bytes: null };
    const before = (ms: number) => new Date(moment.getTime() - ms).toISOString();
    const rounds = { sql, prunedAt, signal, kind: "rounds", horizon: before(ROUNDS_KEPT_MS) } as const;
    const removed = await prune(rounds);
    if (historyKeepMs !== null) {
      const all = await prune({ ...rounds, kind: "changes and runs", horizon: before(historyKeepMs) });
      removed.changes += all.changes;
      removed.runs += all.runs;
    }
    return { what: `${describePruned(removed)} removed`, bytes: null };
  };
}
