import { recordId } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import { isDataFault, refusalOf } from "./data-fault.ts";
import { type LoadCounts, type Loaded, type LoadFacts, loadRecords } from "./load-records.ts";
import type { ObservedRecord } from "./observed-record.ts";
import type { LoadableBatch, PreparedBatch } from "./prepare-batch.ts";
import type { RefusedRecord } from "./quarantine.ts";
import { type BuildSighting, recordTransitions } from "./record-transitions.ts";

/** The counts of the earlier states in a batch. */
export interface EarlierCounts {
  inserted: number;
  restored: number;
  transitions: number;
}

/** Records the transitions of one set of earlier states, before the later states of the same builds. */
export async function addEarlier(
  tx: TransactionSql,
  facts: LoadFacts,
  before: EarlierCounts,
  loaded: Loaded,
): Promise<void> {
  before.inserted += loaded.counts.inserted;
  before.restored += loaded.counts.restored;
  before.transitions += await recordTransitions(tx, facts, loaded.moving);
}

/** Loads a refused batch record by record, each in a savepoint. Throws errors that no record caused. */
export async function loadOneByOne(
  tx: TransactionSql,
  { resource, pages, source }: LoadableBatch,
  prepared: PreparedBatch,
  facts: LoadFacts,
  before: EarlierCounts,
): Promise<{ loaded: Loaded; refused: RefusedRecord[] }> {
  const counts: LoadCounts = { inserted: 0, updated: 0, unchanged: 0, restored: 0 };
  const moving: BuildSighting[] = [];
  let stale = 0;
  const refused: RefusedRecord[] = [];
  const sent = pages.flatMap(({ records, request }) =>
    records.map((payload) => ({ payload: payload as { id?: unknown; project?: unknown } | null, request })),
  );
  const findSent = (of: Resource, { record, request: from }: ObservedRecord) =>
    sent
      .filter(({ request }) => request === from)
      .map(({ payload, request }) => ({
        payload: of === resource ? payload : (payload?.project as { id?: unknown } | null),
        request,
      }))
      .findLast(({ payload }) => recordId(payload) === record.id);
  const attempt = async (of: Resource, one: ObservedRecord, from: ProjectSource): Promise<Loaded | null> => {
    const { id } = one.record;
    try {
      return await tx.savepoint((savepoint) => loadRecords(savepoint, of, [one], from, facts));
    } catch (error) {
      if (!isDataFault(error)) throw error;
      facts.keys.drop(of, id);
      // So that each further page with this copy need not try it again.
      if (of === "project") facts.sightings?.note({ ...one.record, askedAt: one.askedAt }, from);
      const { payload, request = "" } = findSent(of, one) ?? {};
      const { observedAt } = one;
      const reason = refusalOf(error, of, id);
      refused.push({ resource: of, recordId: id, reason, payload, request, observedAt });
      return null;
    }
  };
  for (const project of prepared.embedded) await attempt("project", project, "embedded");
  for (const record of prepared.earlier.flat()) {
    const one = await attempt(resource, record, source);
    if (one) await addEarlier(tx, facts, before, one);
  }
  for (const record of prepared.records) {
    const one = await attempt(resource, record, source);
    for (const key of Object.keys(counts) as (keyof LoadCounts)[]) counts[key] += one?.counts[key] ?? 0;
    moving.push(...(one?.moving ?? []));
    stale += one?.stale ?? 0;
  }
  return { loaded: { counts, moving, stale }, refused };
}
