import { cron } from "./cron-line.ts";
import type { Setting } from "./setting.ts";
import * as values from "./setting.ts";

const NONE = { default: null, without: "none" } as const;
const JOB_CRON = { ...NONE, uses: ["jobs", "status"], value: "cron", parse: cron } as const;
const JOB_FOLDER = { ...NONE, uses: ["jobs"], value: "folder", parse: values.path } as const;

/** What the worker does beside its runs. */
export const UPKEEP_SETTINGS = {
  backupCron: {
    ...JOB_CRON,
    name: "DOCMIRROR_BACKUP_CRON",
    meaning:
      "when the worker writes a backup into DOCMIRROR_BACKUP_DIR; a failed one is tried again after 15 and 60 minutes",
  },
  backupDir: {
    ...JOB_FOLDER,
    name: "DOCMIRROR_BACKUP_DIR",
    meaning:
      "the folder of the backups, which must be there: name one in the mount, so that a lost mount fills no other disk",
  },
  backupKeep: {
    name: "DOCMIRROR_BACKUP_KEEP",
    uses: ["jobs"],
    value: "number",
    default: "14",
    parse: values.whole(1, 10_000),
    meaning: "how many of the newest backups stay, beside the first one of each of the last twelve months",
  },
  exportCron: {
    ...JOB_CRON,
    name: "DOCMIRROR_EXPORT_CRON",
    meaning: "when the worker exports into DOCMIRROR_EXPORT_DIR and DOCMIRROR_EXPORT_LOGS_DIR",
  },
  exportDir: {
    ...JOB_FOLDER,
    name: "DOCMIRROR_EXPORT_DIR",
    meaning: "the folder of builds and dimensions as Parquet, as `docmirror export --incremental` writes it",
  },
  exportLogsDir: {
    ...JOB_FOLDER,
    name: "DOCMIRROR_EXPORT_LOGS_DIR",
    meaning: "the folder of the logs of builds, as `docmirror export --logs` writes it",
  },
  pruneCron: {
    name: "DOCMIRROR_PRUNE_CRON",
    uses: ["jobs", "status"],
    value: "cron",
    default: "47 4 * * *",
    parse: values.neverOr(cron),
    meaning:
      "when the worker removes rounds of the watch from over 400 days ago, and what DOCMIRROR_HISTORY_KEEP leaves; or never",
  },
  historyKeepMs: {
    ...NONE,
    name: "DOCMIRROR_HISTORY_KEEP",
    uses: ["jobs"],
    value: "duration",
    without: "all of it stays",
    parse: values.duration,
    meaning:
      "the worker removes older changes and runs too, as `docmirror prune --older-than` does; units ms s m h d w, as in 400d",
  },
} as const satisfies Record<string, Setting>;
