import type { TransactionSql } from "../../store/connection/sql.ts";
import type { FieldDrift } from "../normalize/page.ts";

/** Stores new drift of a resource in `sync.drift`: each field, kind and detail once. */
export async function recordDrift(
  tx: TransactionSql,
  facts: { resource: string; runId: number; observedAt: string },
  drift: readonly FieldDrift[],
): Promise<void> {
  if (drift.length === 0) return;
  await tx`
    insert into sync.drift (run_id, resource, field, kind, detail, observed_at)
    select distinct ${facts.runId}::bigint, ${facts.resource}, found.field, found.kind, found.detail, ${facts.observedAt}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(drift)}::text::jsonb) as found (field text, kind text, detail text)
    where not exists (
      select from sync.drift as known
      where known.resource = ${facts.resource} and known.field = found.field
        and known.kind = found.kind and known.detail = found.detail)`;
}
