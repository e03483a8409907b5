import type { SettingsFor } from "../../base/config/settings.ts";
import { createDueTimes } from "../../base/due-times.ts";
import { COMMAND_LABELS, type CommandLabel } from "../../base/metrics/labels.ts";
import type { AnySql, Sql } from "../../store/connection/sql.ts";
import type { Definitions } from "../../store/migrate/definitions.ts";
import {
  isUnmade,
  type MigrationStatus,
  migrationStatus,
  whatIsMissing,
} from "../../store/migrate/migrate.ts";
import { assertRowsShown } from "../../store/migrate/rights.ts";
import { findStatus, type MirrorStatus } from "./find-status.ts";

/** The settings that the document of the mirror's state depends on. */
type StatusSettings = SettingsFor<"status">;

/** The schema of a database compared with this program. */
interface SchemaState {
  /** `none`: the database has nothing of docmirror. */
  state: "current" | "older" | "newer" | "none";
  /** The number of migrations that the program knows. */
  migrations: number;
  /** Those that the database lacks. */
  missing: number;
  /** Those of the database that the program does not know. */
  unknown: number;
  /** Views and functions of the reports that are defined differently. */
  outdated: number;
}

/**
 * Compares the schema of a database with this program. Changes nothing. `fault` says why this program cannot use the
 * database, and what to do; null when it can. Throws StoreError.
 */
export async function judgeSchema(
  sql: AnySql,
  definitions: Definitions,
): Promise<{ schema: SchemaState; fault: string | null }> {
  const status = await migrationStatus(sql, definitions);
  await assertRowsShown(sql);
  const { migrations, missing, unknown, outdated } = status;
  const state = isUnmade(status) ? "none" : status.state;
  return {
    schema: { state, migrations: migrations.length, missing, unknown, outdated: outdated.length },
    fault: faultOf(state, status),
  };
}

function faultOf(state: SchemaState["state"], status: MigrationStatus): string | null {
  if (state === "none") return "There is no mirror in the database yet; `docmirror sync` makes one.";
  if (state === "older")
    return `The schema of the database is older than this program: ${whatIsMissing(status)}. Run \`docmirror migrate\`.`;
  if (state === "current" || status.usable) return null;
  return `The schema of the database is newer than this program. Upgrade docmirror to ${status.maker}.`;
}

/** When a cron line, in its IANA zone, is due next; null when that is at no moment in 40 years. */
type NextRun = { job: CommandLabel; cron: string; timezone: string; due_at: string | null };

type Crons = Pick<StatusSettings, `${CommandLabel}Cron` | "timezone">;

/** Says when each job of a worker with these settings is due next. */
export function createNextRuns(crons: Crons): (now: Date) => NextRun[] {
  const { timezone } = crons;
  const jobs = COMMAND_LABELS.flatMap((job) => {
    const cron = crons[`${job}Cron`];
    return cron === null ? [] : [{ job, cron, findNext: createFindNext(cron, timezone) }];
  });
  return (now) =>
    jobs.map(({ findNext, ...job }) => ({ ...job, timezone, due_at: findNext(now)?.toISOString() ?? null }));
}

/** Searches only when the moment that it found has come, because a rare line takes a tenth of a second. */
function createFindNext(cron: string, timezone: string): (now: Date) => Date | null {
  const due = createDueTimes(cron, timezone);
  let found: { from: Date; at: Date | null } | undefined;
  return (now) => {
    const isRight = found !== undefined && found.from <= now && (found.at === null || now < found.at);
    if (!isRight) found = { from: now, at: due.next(now) };
    return found?.at ?? null;
  };
}

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

/** The document, or why there is none: the schema is not that of this program. */
export type ReadStatus = (
  sql: Sql,
  now: Date,
) => Promise<StatusDocument | ({ fault: string } & Pick<StatusDocument, "schema" | "version">)>;

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
