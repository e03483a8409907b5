import { recordId } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import type { LoadCounts, ObservedRecord } from "./compare-records.ts";
import { findZoneChange } from "./lives.ts";
import { type Loaded, type LoadFacts, loadRecords, nothingLoaded } from "./load-records.ts";
import type { LoadableBatch, PreparedBatch } from "./prepare-batch.ts";
import { isDataFault, type RefusedRecord, refusalOf } from "./quarantine.ts";
import { recordTransitions } from "./record-transitions.ts";

interface LoadedBatch extends Loaded {
  /** The transitions into the states that builds had before the last one in the batch. Those of `moving` are to be recorded. */
  transitions: number;
  /** The records that Postgres refused. With the method `copy` it refuses the whole batch, which throws. */
  refused: RefusedRecord[];
}

/** Loads a batch within the caller's transaction: embedded projects first, then the earlier states of builds, then the records. */
export async function loadBatch(
  tx: TransactionSql,
  batch: LoadableBatch,
  { embedded, earlier, records }: PreparedBatch,
  given: LoadFacts,
): Promise<LoadedBatch> {
  const { resource, source } = batch;
  const known = records.filter(({ record }) => !given.keys.isNew(resource, record.id));
  let zoneChange: Promise<boolean> | undefined;
  const hasZoneChanged = () => {
    zoneChange ??= findZoneChange(tx, known);
    return zoneChange;
  };
  const facts = { ...given, hasZoneChanged };
  // Before a row of the batch is stored. Where all are stored at once, it is enough to ask when a build has changed.
  if (resource === "build" && (given.method === "insert" || earlier.length > 0)) await hasZoneChanged();
  const refused: RefusedRecord[] = [];
  const load = (of: Resource, observed: readonly ObservedRecord[], from: ProjectSource) =>
    facts.method === "copy"
      ? loadRecords(tx, of, observed, from, facts)
      : loadSingly(tx, of, observed, from, facts, (one, reason) => {
          const payload = findSent(batch, of, one);
          const { request, observedAt } = one;
          const { id } = one.record;
          refused.push({ resource: of, recordId: id, reason, payload, request: request ?? "", observedAt });
        });

  await load("project", embedded, "embedded");
  const before = { inserted: 0, restored: 0, transitions: 0 };
  for (const states of earlier) {
    const { counts, moving } = await load(resource, states, source);
    before.inserted += counts.inserted;
    before.restored += counts.restored;
    // Before the later states of the same builds are stored.
    before.transitions += await recordTransitions(tx, facts, moving);
  }
  const { counts, moving, stale, emptied } = await load(resource, records, source);
  return {
    counts: {
      // A build that is new and changed its state within the batch counts as new.
      inserted: counts.inserted + before.inserted,
      updated: Math.max(0, counts.updated - before.inserted),
      unchanged: counts.unchanged,
      restored: counts.restored + before.restored,
    },
    moving,
    stale,
    emptied,
    transitions: before.transitions,
    refused,
  };
}

/** Loads records one by one, each in a savepoint. Throws errors that no record caused. */
async function loadSingly(
  tx: TransactionSql,
  of: Resource,
  observed: readonly ObservedRecord[],
  from: ProjectSource,
  facts: LoadFacts,
  onRefused: (one: ObservedRecord, reason: string) => void,
): Promise<Loaded> {
  const all = nothingLoaded();
  for (const one of observed) {
    const { id, hash } = one.record;
    try {
      const { counts, moving, stale, emptied } = await tx.savepoint((savepoint) =>
        loadRecords(savepoint, of, [one], from, facts),
      );
      for (const name of Object.keys(counts) as (keyof LoadCounts)[]) all.counts[name] += counts[name];
      all.moving.push(...moving);
      all.stale += stale;
      all.emptied += emptied;
    } catch (error) {
      if (!isDataFault(error)) throw error;
      facts.keys.drop(of, id);
      // So that each further page with this copy need not try it again.
      if (of === "project") facts.sightings?.note({ id, hash, askedAt: one.askedAt }, from);
      onRefused(one, refusalOf(error, of, id));
    }
  }
  return all;
}

/** The record as it was sent: the last one with this id in the reply, or the project that is embedded in it. */
function findSent(
  { resource, pages }: LoadableBatch,
  of: Resource,
  { record, request }: ObservedRecord,
): unknown {
  return pages
    .filter((page) => page.request === request)
    .flatMap(({ records }) => records as ({ project?: unknown } | null)[])
    .map((sent) => (of === resource ? sent : sent?.project))
    .findLast((sent) => recordId(sent) === record.id);
}
