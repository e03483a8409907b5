import type { Resource } from "../../resources/resources.ts";
import type { Sql } from "../../store/connection/sql.ts";

export interface QuarantineRow {
  id: number;
  resource: Resource;
  record_id: string | null;
  reason: string;
  request: string | null;
  run_id: number;
  created_at: string;
  resolved_at: string | null;
  /** The place of a hole in its list. A hole has no payload. */
  list_offset: number | null;
  /** JSON, cut to `payloadLength` characters unless that is null. Null when there is no payload. */
  payload: string | null;
}

export interface QuarantineFilter {
  /** Null: all. */
  resource: Resource | null;
  /** Resolved ones too. */
  all: boolean;
}

/** The quarantine, newest first. It reads one row at a time, because a payload may be as long as a reply. */
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

/** The number of records and of holes in quarantine. */
export async function countQuarantine(sql: Sql, { resource, all }: QuarantineFilter) {
  const [row] = await sql<{ records: number; holes: number }[]>`
    select count(*) filter (where list_offset is null) as records,
      count(*) filter (where list_offset is not null) as holes
    from sync.quarantine
    where (${all} or resolved_at is null) and resource = coalesce(${resource}, resource)`;
  return row ?? { records: 0, holes: 0 };
}
