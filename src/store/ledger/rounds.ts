import type { Resource } from "../../resources/resources.ts";
import type { Sql, TransactionSql } from "../connection/sql.ts";
import type { Checkpoint, WalkStart } from "./run-ledger.ts";

/** A night of a round. Everything behind one of these records was read in it or later. */
export interface NightMark {
  startedAt: string;
  /** Records of the first page that counted. */
  ids: readonly string[];
}

/** A walk of a whole list that rests each night (`src/mirror/lists/read-round.ts`), while it is under way. */
export interface Round extends WalkStart {
  /** The records that it has covered. */
  records: number;
  /** Where it rests, and what the service counted there. */
  checkpoint: Checkpoint;
  totalCount: number;
  nights: readonly NightMark[];
}

/** The round of a list that is under way, and the nights of the one before, which read every record. */
export async function findRound(
  sql: Sql,
  resource: Resource,
): Promise<{ round: Round | null; earlier: readonly NightMark[] }> {
  const [row] = await sql<(Round & { earlier: readonly NightMark[] })[]>`
    select began_run_id as "beganRunId", started_at as "startedAt", records, checkpoint, total_count as "totalCount", nights, earlier
    from sync.rounds where resource = ${resource}`;
  if (!row) return { round: null, earlier: [] };
  const { earlier, ...round } = row;
  return { round: round.checkpoint === null ? null : round, earlier };
}

/** Stores how far a round has come, in the transaction of its pages. Safe to repeat. */
export async function saveRound(tx: TransactionSql | Sql, resource: Resource, round: Round): Promise<void> {
  const { beganRunId, startedAt, records, totalCount } = round;
  const [checkpoint, nights] = [JSON.stringify(round.checkpoint), JSON.stringify(round.nights)];
  await tx`
    insert into sync.rounds (resource, began_run_id, started_at, records, checkpoint, total_count, nights)
    values (${resource}, ${beganRunId}, ${startedAt}, ${records}, ${checkpoint}::text::jsonb, ${totalCount}, ${nights}::text::jsonb)
    on conflict (resource) do update set began_run_id = excluded.began_run_id, started_at = excluded.started_at,
      records = excluded.records, checkpoint = excluded.checkpoint, total_count = excluded.total_count, nights = excluded.nights`;
}

/** Forgets the rounds of a list, before a walk of the whole list takes the place of their pages. */
export async function forgetRounds(sql: Sql, resource: Resource): Promise<void> {
  await sql`delete from sync.rounds where resource = ${resource}`;
}

/** Ends the round of a list. `earlier`: the nights of the newest one that read every record. */
export async function endRound(
  tx: TransactionSql | Sql,
  resource: Resource,
  earlier: readonly NightMark[],
): Promise<void> {
  await tx`
    insert into sync.rounds (resource, earlier) values (${resource}, ${JSON.stringify(earlier)}::text::jsonb)
    on conflict (resource) do update set earlier = excluded.earlier, began_run_id = null, started_at = null,
      records = null, checkpoint = null, total_count = null, nights = null`;
}
