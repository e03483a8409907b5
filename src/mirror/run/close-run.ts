import type { Clock } from "../../base/clock.ts";
import { LockedError, messageOf, UpstreamError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { renewConnections } from "../../store/connection/connect.ts";
import { createPatience } from "../../store/connection/patience.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { finishRun, type RunTotals } from "../../store/ledger/run-ledger.ts";
import type { RunLock } from "../../store/ledger/run-lock.ts";

/** How long the end of a run waits for a database that is away. */
const CLOSE_WITHIN_MS = 60_000;
/** A short wait after a stop or a lost database, because the run has waited already. */
const CLOSE_BROKEN_WITHIN_MS = 1000;

/**
 * Stores how a run ended. If that fails after the run itself has failed, the run stays open and the next one
 * closes it, because the first error matters more. If the run was good until then, throws `StoreError`, or
 * `LockedError` when another run has closed it.
 */
export async function closeRun(
  { sql, lock, clock, log }: { sql: Sql; lock: RunLock; clock: Clock; log: Logger },
  run: { runId: number; end: Parameters<typeof finishRun>[2]; totals: RunTotals; error: unknown },
): Promise<void> {
  const { runId, end, totals, error } = run;
  const isOver = error === null || error instanceof UpstreamError;
  const patience = createPatience({
    clock,
    log,
    signal: new AbortController().signal,
    regain: lock.hold,
    renew: () => renewConnections(sql),
    hasWritten: true,
    patienceMs: isOver ? CLOSE_WITHIN_MS : CLOSE_BROKEN_WITHIN_MS,
  });
  try {
    await patience("close the run", () => finishRun(sql, runId, end, totals));
  } catch (reason) {
    if (error === null) throw reason;
    const why = { error: messageOf(reason) };
    if (reason instanceof LockedError) log.warn(why, "another process has closed the run");
    else log.warn(why, "the run is left open");
  }
}
