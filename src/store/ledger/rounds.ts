import type { Resource } from "../../resources/resources.ts";
import { type AnySql, type Sql, statement, type TransactionSql } from "../connection/sql.ts";
import type { Checkpoint, WalkStart } from "./run-ledger.ts";

const SAVE_ROUND = statement("save_round", import.meta.url);
const BELOW_HEAD = statement<BelowHead>("below_head", import.meta.url);

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
  /** The place where it rests, and the count of the service there. */
  checkpoint: Checkpoint;
  totalCount: number;
  nights: readonly NightMark[];
}

/** The round of a list that is under way, and the nights of the one before, which read every record. */
export async function findRound(sql: Sql, resource: Resource) {
  const [row] = await sql<(Round & { earlier: readonly NightMark[] })[]>`
    select began_run_id as "beganRunId", started_at as "startedAt", records, checkpoint, total_count as "totalCount", nights, earlier
    from sync.rounds where resource = ${resource}`;
  if (!row) return { round: null, earlier: [] };
  const { earlier, ...round } = row;
  return { round: round.checkpoint === null ? null : round, earlier };
}

/** Stores how far a round has come, in the transaction of its pages. Safe to repeat. */
export async function saveRound(tx: TransactionSql | Sql, resource: Resource, round: Round): Promise<void> {
  const { checkpoint, nights, ...facts } = round;
  const kept = { checkpoint: JSON.stringify(checkpoint), nights: JSON.stringify(nights) };
  await SAVE_ROUND(tx, { ...facts, ...kept, resource });
}

/** Forgets the rounds of a list, before a walk of the whole list takes the place of their pages. */
export async function forgetRounds(sql: Sql, resource: Resource): Promise<void> {
  await sql`delete from sync.rounds where resource = ${resource}`;
}

/** Ends the round of a list. `earlier`: the nights of the newest one that read every record. */
export async function endRound(tx: TransactionSql | Sql, resource: Resource, earlier: readonly NightMark[]) {
  await tx`
    insert into sync.rounds (resource, earlier) values (${resource}, ${JSON.stringify(earlier)}::text::jsonb)
    on conflict (resource) do update set earlier = excluded.earlier, began_run_id = null, started_at = null,
      records = null, checkpoint = null, total_count = null, nights = null`;
}

/** The reading of the newest sync that ended, below the head of the builds. */
export interface BelowHead {
  run_id: number;
  /** Records that its night of a round read again. Null: it had no night, as without a round or where one was not due. */
  round_records: number | null;
  /** The reason why that night read nothing, broke off, or ended its round unproven; null where it did none of these. */
  round_reason: string | null;
  /** Requests of its search for what came or went. Null without one. */
  search_requests: number | null;
  search_is_done: boolean | null;
  /** The begin of the round that is under way, and how many of how many records it has covered. Null where none is. */
  round: { began_at: string; records: number; total_count: number } | null;
}

/** Null before the first sync that read the builds. */
export async function findBelowHead(sql: AnySql): Promise<BelowHead | null> {
  const [row] = await BELOW_HEAD(sql);
  return row ?? null;
}
