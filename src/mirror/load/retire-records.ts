import type { Resource } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { Observation } from "./compare-records.ts";
import { addLive } from "./live-count.ts";
import { recordChanges } from "./record-changes.ts";
import { recordTransitions, type TransitionFacts } from "./record-transitions.ts";
import { recordStatement } from "./tables.ts";

const RETIRE_RECORDS = recordStatement<{ id: string; at: string }>("retire_records", import.meta.url);

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
    const retired = await RETIRE_RECORDS(tx, resource, {
      gone: JSON.stringify(gone),
      runId: facts.runId,
    });
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
