import { statement, type TransactionSql } from "../../store/connection/sql.ts";
import type { FieldDrift } from "../normalize/page.ts";

const STORE_DRIFT = statement("store_drift", import.meta.url);

/** Stores new drift of a resource in `sync.drift`: each field, kind and detail once. */
export async function recordDrift(
  tx: TransactionSql,
  facts: { resource: string; runId: number; observedAt: string },
  drift: readonly FieldDrift[],
): Promise<void> {
  if (drift.length === 0) return;
  await STORE_DRIFT(tx, {
    runId: facts.runId,
    resource: facts.resource,
    observedAt: facts.observedAt,
    drift: JSON.stringify(drift),
  });
}
