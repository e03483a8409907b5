import type { Sql } from "../../store/connection/sql.ts";
import type { Definitions } from "../../store/migrate/definitions.ts";
import { findStatus, type MirrorStatus } from "./find-status.ts";
import { createNextRuns, type NextRun } from "./next-runs.ts";
import { judgeSchema, type SchemaState } from "./schema-state.ts";
import type { StatusSettings } from "./status-settings.ts";

/** The document of `/status.json` and `docmirror status --json` (`docs/contract.md`, "The status document"). */
export interface StatusDocument extends MirrorStatus {
  /** When the jobs of a worker with these settings are due next. Null while nobody leads: nothing is scheduled. */
  next_runs: NextRun[] | null;
  schema: SchemaState;
  /** The version of the program that answers. */
  version: string;
  /** When it was read. */
  generated_at: string;
}

/** Why there is no document: the schema is not that of this program. */
export interface NoStatus {
  fault: string;
  schema: SchemaState;
  version: string;
}

export type ReadStatus = (sql: Sql, now: Date) => Promise<StatusDocument | NoStatus>;

/** Reads the document again and again with the same settings. Throws StoreError. */
export function createReadStatus(settings: StatusSettings, definitions: Definitions): ReadStatus {
  const { version } = definitions;
  let findNextRuns: ((now: Date) => NextRun[]) | undefined;
  return async (sql, now) => {
    const { schema, fault } = await judgeSchema(sql, definitions);
    if (fault !== null) return { fault, schema, version };
    const status = await findStatus(sql, settings, now);
    // Cron lines take a while to read, and many mirrors have no leader.
    if (status.leader !== null) findNextRuns ??= createNextRuns(settings);
    const next_runs = status.leader && findNextRuns ? findNextRuns(now) : null;
    return { ...status, next_runs, schema, version, generated_at: now.toISOString() };
  };
}
