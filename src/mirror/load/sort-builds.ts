import type { TransactionSql } from "../../store/connection/sql.ts";
import type { ObservedRecord, SortedRecords, StoredBuild } from "./compare-records.ts";
import type { KnownKeys } from "./known-keys.ts";
import { judgeLife } from "./lives.ts";
import { type BuildSighting, findStale, isKnownFinal, type TransitionFacts } from "./record-transitions.ts";
import { isSilent } from "./silent-fields.ts";

export interface BuildFacts extends TransitionFacts {
  keys: Pick<KnownKeys, "resolve">;
  /** Asked where a build has changed: are the dates of builds in change because their zone is another one? @default they are not */
  hasZoneChanged?: () => Promise<boolean>;
  /** The most milliseconds that a replica may be behind. @default 0 */
  replicaLagMs?: number | undefined;
}

const STATE = { name: "state", column: "state" };

/**
 * Skips builds of which something newer is known: the later of two sightings wins, in any order of arrival. A reply that says
 * nothing of the state is no sighting. `reborn` are those whose id the service has given to another build.
 */
export async function sortBuilds(
  tx: TransactionSql,
  sorted: SortedRecords,
  stored: ReadonlyMap<string, StoredBuild>,
  facts: BuildFacts,
) {
  const { keys, isFinal = isKnownFinal, replicaLagMs = 0 } = facts;
  const showsState = ({ record }: ObservedRecord) => !isSilent(record, STATE);
  const isOpen = ({ record }: ObservedRecord) => !isFinal(record.columns.state);
  const open = sorted.unchanged.filter((one) => showsState(one) && isOpen(one));
  const stale = await findStale(tx, facts, [...sorted.changed, ...open].filter(showsState).map(toSighting));
  const hasZoneChanged = sorted.changed.length > 0 && (await facts.hasZoneChanged?.()) === true;
  const reborn = new Set<string>();
  for (const one of sorted.changed) {
    const { id } = one.record;
    const known = stored.get(id);
    const life = known && judgeLife(one, known, { keys, hasZoneChanged, replicaLagMs });
    if (life === "past") stale.add(id);
    if (life === "other" && !stale.has(id)) reborn.add(id);
  }
  const isFresh = ({ record }: ObservedRecord) => !stale.has(record.id);
  const late = sorted.changed.filter((one) => !isFresh(one));
  sorted.unchanged.push(...late);
  sorted.changed = sorted.changed.filter(isFresh);
  sorted.returned = sorted.returned.filter(isFresh);
  const isReborn = ({ record }: ObservedRecord) => reborn.has(record.id);
  const [begun, known] = [
    [...sorted.added, ...sorted.changed.filter(isReborn)],
    [...sorted.changed.filter((one) => !isReborn(one)), ...open.filter(isFresh)],
  ].map((builds) => builds.filter(showsState).map(toSighting)) as [BuildSighting[], BuildSighting[]];
  const moving = [...begun.map((one) => ({ ...one, isAdded: true })), ...known];
  return { moving, stale: late.length, reborn };
}

function toSighting({
  record: { id, columns },
  askedAt,
  observedAt,
  request,
}: ObservedRecord): BuildSighting {
  const { state = null, date = null } = columns;
  return { id, askedAt, observedAt, request, state, date };
}
