import type { Sql } from "../db/connect.ts";
import type { Resource } from "../wire/resources.ts";

export interface QuarantineRow {
  id: number;
  resource: Resource;
  record_id: string | null;
  reason: string;
  request: string | null;
  run_id: number;
  created_at: string;
  resolved_at: string | null;
  /** Set for a place in a list that upstream cannot render: then there is no payload. */
  list_offset: number | null;
  /** JSON, cut to `payloadLength` characters where that is not null. Null when there is none. */
  payload: string | null;
}

export interface QuarantineFilter {
  /** Null: all. */
  resource: Resource | null;
  /** Resolved ones too. */
  all: boolean;
}

/** What is in quarantine, newest first, one row at a time: a payload may be as long as a reply. */
export async function* listQuarantine(
  sql: Sql,
  { resource, all }: QuarantineFilter,
  { limit, payloadLength }: { limit: number; payloadLength: number | null },
): AsyncGenerator<QuarantineRow> {
  const rows = sql<QuarantineRow[]>`
    select id, resource, record_id, reason, request, run_id, created_at, resolved_at, list_offset,
      left(payload::text, coalesce(${payloadLength}::integer, 2147483647)) as payload
    from sync.quarantine
    where (${all} or resolved_at is null) and resource = coalesce(${resource}, resource)
    order by id desc limit ${limit}`;
  for await (const batch of rows.cursor(1)) yield* batch;
}

/** How many records and how many holes in lists there are. */
export async function countQuarantine(
  sql: Sql,
  { resource, all }: QuarantineFilter,
): Promise<{ records: number; holes: number }> {
  const [row] = await sql<{ records: number; holes: number }[]>`
    select count(*) filter (where list_offset is null) as records,
      count(*) filter (where list_offset is not null) as holes
    from sync.quarantine
    where (${all} or resolved_at is null) and resource = coalesce(${resource}, resource)`;
  return row ?? { records: 0, holes: 0 };
}
