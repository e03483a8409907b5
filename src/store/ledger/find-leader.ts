import type { AnySql } from "../connection/sql.ts";

/** A heartbeat comes every few seconds. A process without one for this long counts as dead or frozen. */
export const HEARTBEAT_LOST_MS = 30_000;

/** The process that runs the schedule of the mirror. */
export interface Leader {
  /** A random name of the process. */
  instance: string;
  pid: number;
  host: string;
  /** The takeovers so far. */
  term: number;
  since: string;
  /** By the clock of Postgres. */
  heartbeat_at: string;
}

/**
 * The process that leads now, or null: nobody ever led, the last one resigned, or its heartbeat stopped. The clock of
 * Postgres alone decides, so that clocks of machines may differ.
 */
export async function findLeader(sql: AnySql): Promise<Leader | null> {
  const [leader] = await sql<Leader[]>`
    select instance, pid, host, term, since, heartbeat_at from sync.leader
    where resigned_at is null and heartbeat_at > clock_timestamp() - ${HEARTBEAT_LOST_MS} * interval '1 millisecond'`;
  return leader ?? null;
}
