import type { TransactionSql } from "../db/connect.ts";
import type { Resource } from "../wire/resources.ts";
import { recordChanges } from "./record-changes.ts";
import { RECORD_TABLES } from "./tables.ts";

/** A record that upstream said it does not have, and when its reply was here. */
export interface GoneRecord {
  resource: Resource;
  id: string;
  observedAt: string;
}

/** Records retired, by resource; resources without any are absent. */
export type RetiredCounts = Partial<Record<Resource, number>>;

/**
 * Sets `deleted_at` of records that are gone, records the change, and takes them off `sync.missing_records`, within the caller's
 * transaction. A record that is no longer on that list, because a walk met it meanwhile, or that is deleted already, is
 * left as it is: so it is safe to repeat. Rows are never removed, and what points to them stays.
 */
export async function retireRecords(
  tx: TransactionSql,
  runId: number,
  gone: readonly GoneRecord[],
): Promise<RetiredCounts> {
  const counts: RetiredCounts = {};
  for (const resource of new Set(gone.map((record) => record.resource))) {
    const retired = await tx.unsafe<{ id: string; at: string }[]>(
      `with settled as (
         delete from sync.missing_records as missing
         using jsonb_to_recordset($1::text::jsonb) as gone (resource text, id text, "observedAt" timestamptz)
         where gone.resource = $2 and missing.resource = $2 and missing.record_id = gone.id
         returning gone.id, gone."observedAt" as at
       )
       update ${RECORD_TABLES[resource].name} as record set deleted_at = settled.at, changed_at = settled.at
       from settled where record.id = settled.id and record.deleted_at is null
       returning record.id, settled.at`,
      [JSON.stringify(gone), resource],
    );
    if (retired.length === 0) continue;
    counts[resource] = retired.length;
    await recordChanges(
      tx,
      { resource, runId },
      retired.map(({ id, at }) => ({
        recordId: id,
        kind: "deleted",
        observedAt: at,
        before: null,
        after: null,
      })),
    );
  }
  return counts;
}
