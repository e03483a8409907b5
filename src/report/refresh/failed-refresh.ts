/**
 * A refresh that fails. Its transaction is gone, and what writers noted still waits, so the next refresh would take the same way to
 * the same fault. Therefore the failure is noted in a transaction of its own; the next refresh computes everything anew, in
 * whatever process it is; and until one goes well, people see that the refresh fails, and does not only wait.
 */
import { messageOf, StoreError } from "../../base/errors.ts";
import { type AnySql, abortable, type Sql, type TransactionSql } from "../../store/connection/sql.ts";
import { isAway, sqlstateOf, toStoreError } from "../../store/connection/store-errors.ts";

/** The refresh that failed last, while none has gone well since. */
export interface FailedRefresh {
  /** As Postgres writes it. */
  at: string;
  error: string;
}

/** The answers could not be computed. The failure is noted, so the next refresh computes everything anew. */
export class RefreshError extends StoreError {
  override name = "RefreshError";
}

const REPORT_IT = "where that fails too, report it with the output of `docmirror doctor --json`";
/** For people, after a failure. */
export const HOW_IT_GOES_ON = `\`docmirror report freshness\` computes everything anew; ${REPORT_IT}`;

/** Asks only what a reader may see. */
export async function findFailedRefresh(sql: AnySql): Promise<FailedRefresh | null> {
  const [failed] = await sql<FailedRefresh[]>`
    select refresh_failed_at as at, refresh_error as error from report.freshness where refresh_failed_at is not null limit 1`;
  return failed ?? null;
}

/** Takes the note in the transaction of the next refresh. Where that one fails too, the note stays. */
export async function takeFailedRefresh(tx: TransactionSql): Promise<FailedRefresh | null> {
  const [failed] = await tx<
    FailedRefresh[]
  >`delete from rollup.failed_refresh returning failed_at as at, error`;
  return failed ?? null;
}

/**
 * Notes that a refresh failed, and returns its error: a `RefreshError` where it was noted. A stop, a lost connection, a lock that was
 * not had and a database that refuses us say nothing of the answers, so they are not noted.
 */
export async function noteFailedRefresh(
  sql: Sql,
  cause: unknown,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const error = toStoreError(cause, "refresh the reports");
  if (signal?.aborted || isAway(error)) return error;
  const note = sql`
    insert into rollup.failed_refresh (failed_at, error) values (now(), left(${messageOf(error)}, 1000))
    on conflict (id) do update set failed_at = excluded.failed_at, error = excluded.error`;
  try {
    await abortable(note, signal);
  } catch {
    return error;
  }
  if (!(error instanceof StoreError)) return error;
  const hint = error.hint ?? `run it again, which computes everything anew; ${REPORT_IT}`;
  return new RefreshError(error.message, { cause, sqlstate: sqlstateOf(error), hint });
}
