import type { TransactionSql } from "../../store/connection/sql.ts";

/** The number of open builds read with one query. */
const WINDOW = 5000;

export interface WalkedList {
  runId: number;
  /** The run in which the walk began. */
  beganRunId: number;
  /** When the walk began, in this run or an earlier one. */
  startedAt: string;
  /** The list's path. */
  request: string;
}

/**
 * Records that a full walk saw these open builds in their stored state. Loading alone does not record that,
 * because a page with the same bytes as in the last walk is not loaded. Call it within the transaction that
 * ends the walk. It does not change builds that were seen later, or that the walk saw but could not store.
 */
export async function recordSeen(
  tx: TransactionSql,
  seen: { has(id: string): boolean },
  { runId, beganRunId, startedAt, request }: WalkedList,
): Promise<void> {
  let last = "";
  for (;;) {
    const open = await tx<{ id: string }[]>`
      select build_id as id from sync.open_builds as open
      where build_id > ${last} and (run_id, seen_at) < (${beganRunId}, ${startedAt}::timestamptz) and vanished_at is null
        and not exists (
          select from sync.quarantine
          where resource = 'build' and record_id = open.build_id and resolved_at is null)
      order by build_id limit ${WINDOW}`;
    const shown = open.filter(({ id }) => seen.has(id)).map(({ id }) => id);
    if (shown.length > 0) {
      await tx`
        update sync.open_builds set seen_at = ${startedAt}::timestamptz, run_id = ${runId}, request = ${request}
        where build_id = any (${shown}::text[])`;
    }
    if (open.length < WINDOW) return;
    last = open.at(-1)?.id ?? last;
  }
}
