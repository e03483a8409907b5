import type { AnySql } from "../../store/connection/sql.ts";

/** Where the log of a build is that was removed here. */
export interface ArchivedLog {
  /** An export of logs, as an absolute path of the machine that removed the log. */
  folder: string;
  path: string;
  removed_at: string;
  /** The line that said why the build failed. */
  error_line: string | null;
}

/** Null where the log was never removed. */
export async function findArchivedLog(sql: AnySql, buildId: string): Promise<ArchivedLog | null> {
  const [row] = await sql<ArchivedLog[]>`
    select folder, path, removed_at, error_line
    from mirror.archived_logs join mirror.log_files on log_files.id = file_id
    where build_id = ${buildId}`;
  return row ?? null;
}
