import { alias } from "drizzle-orm/pg-core";
import type { Resource } from "../../resources/resources.ts";
import { composed, nameOf, type TransactionSql } from "../../store/connection/sql.ts";
import { missingRecords } from "../../store/schema/index.ts";
import type { Observation } from "./compare-records.ts";
import { addLive } from "./live-count.ts";
import { recordChanges } from "./record-changes.ts";
import { recordTransitions, type TransitionFacts } from "./record-transitions.ts";
import { RECORD_TABLES, recordsAs } from "./tables.ts";

/** A record that upstream no longer has, and the reply that says so. */
export interface GoneRecord extends Observation {
  resource: Resource;
  id: string;
}

export type RetiredCounts = Partial<Record<Resource, number>>;

export interface Retired {
  counts: RetiredCounts;
  transitions: number;
}

/** An open build enters `vanished`. A record that a walk has met since is not changed, so this is safe to repeat. */
export async function retireRecords(
  tx: TransactionSql,
  facts: TransitionFacts,
  gone: readonly GoneRecord[],
): Promise<Retired> {
  const counts: RetiredCounts = {};
  let transitions = 0;
  for (const resource of new Set(gone.map((record) => record.resource))) {
    const missing = alias(missingRecords, "missing");
    const record = recordsAs(resource, "record");
    const retired = await composed(tx)<{ id: string; at: string }>`
      with settled as (
        delete from ${missingRecords} as ${missing}
        using jsonb_to_recordset(${JSON.stringify(gone)}::text::jsonb)
          as gone (resource text, id text, "observedAt" timestamptz)
        where gone.resource = ${resource} and ${missing.resource} = ${resource} and ${missing.record_id} = gone.id
        returning gone.id, gone."observedAt" as at
      )
      update ${RECORD_TABLES[resource].table} as ${record}
      set ${nameOf(record.deleted_at)} = settled.at, ${nameOf(record.changed_at)} = settled.at,
        ${nameOf(record.changed_run_id)} = ${facts.runId}
      from settled where ${record.id} = settled.id and ${record.deleted_at} is null
      returning ${record.id}, settled.at`;
    if (retired.length === 0) continue;
    counts[resource] = retired.length;
    await addLive(tx, resource, -retired.length);
    if (resource === "build") {
      const ids = retired.map(({ id }) => id);
      const sightings = gone.filter((one) => one.resource === "build" && ids.includes(one.id));
      transitions = await recordTransitions(tx, facts, sightings, true);
      // A deleted build is not polled any more.
      await tx`delete from sync.open_builds where build_id = any (${ids}::text[])`;
    }
    const changes = retired.map(({ id, at }) => ({ recordId: id, kind: "deleted" as const, observedAt: at }));
    await recordChanges(tx, { resource, runId: facts.runId }, changes);
  }
  return { counts, transitions };
}
