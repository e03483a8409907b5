import type { TransactionSql } from "../db/connect.ts";

/** Open builds looked at with one query. */
const WINDOW = 5000;

export interface WalkedList {
  runId: number;
  /** The run in which the walk began. */
  beganRunId: number;
  /** When the walk began, in whichever run that was. */
  startedAt: string;
  /** The list's path. */
  request: string;
}

/**
 * Notes that a full walk met these open builds in the state that is recorded: a page with the bytes of the last walk is not loaded, and yet
 * shows them. To be called within the transaction that ends the walk. What was seen later stays as it is, and so does what the walk met but
 * could not store.
 */
export async function noteSeen(
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
    const met = open.filter(({ id }) => seen.has(id)).map(({ id }) => id);
    if (met.length > 0) {
      await tx`
        update sync.open_builds set seen_at = ${startedAt}::timestamptz, run_id = ${runId}, request = ${request}
        where build_id = any (${met}::text[])`;
    }
    if (open.length < WINDOW) return;
    last = open.at(-1)?.id ?? last;
  }
}
