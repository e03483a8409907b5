import type { ProjectSource } from "../db/schema/projects.ts";
import { type FieldDrift, findDrift } from "../normalize/find-drift.ts";
import type { NormalizedRecord } from "../normalize/normalized.ts";
import type { NormalizedPage } from "../normalize/page.ts";
import type { Reference } from "../wire/resource-uri.ts";
import type { Resource } from "../wire/resources.ts";
import type { ObservedRecord } from "./observed-record.ts";
import type { RefusedRecord } from "./quarantine.ts";

export interface LoadablePage {
  records: readonly unknown[];
  /** The path and query that gave the records. */
  request: string;
  /** When the request was sent that brought the records. @default observedAt */
  askedAt?: Date;
  observedAt: Date;
  /** What `Loader.normalize` made of the records; made by `load` where it is missing. */
  normalized?: NormalizedPage;
}

export interface LoadableBatch {
  resource: Resource;
  /** In the order in which they were seen: of two sightings of a record the later one counts. */
  pages: readonly LoadablePage[];
  source: Exclude<ProjectSource, "embedded">;
}

/** The pages of a batch as they are loaded. */
export interface PreparedBatch {
  /** Each record once, as it was seen last. */
  records: ObservedRecord[];
  /** Builds that were seen in another state before that, in the order of their states; on most pages there are none. */
  earlier: ObservedRecord[][];
  embedded: ObservedRecord[];
  rejected: RefusedRecord[];
  replacedNul: number;
  drift: FieldDrift[];
  /** When the last of the pages was here. */
  observedAt: string;
}

/** Sorts what the pages of a batch show; `normalize` is for pages that came without their rows. */
export function prepareBatch(
  { resource, pages }: LoadableBatch,
  normalize: (resource: Resource, records: readonly unknown[]) => NormalizedPage,
): PreparedBatch {
  const sightings: ObservedRecord[] = [];
  const prepared: PreparedBatch = {
    records: [],
    earlier: [],
    embedded: [],
    rejected: [],
    replacedNul: 0,
    drift: [],
    observedAt: "",
  };
  for (const { records, request, observedAt, askedAt = observedAt, normalized } of pages) {
    const at = observedAt.toISOString();
    const asked = askedAt.toISOString();
    const page = normalized ?? normalize(resource, records);
    const seen = (record: NormalizedRecord): ObservedRecord => ({
      record,
      askedAt: asked,
      observedAt: at,
      request,
    });
    sightings.push(...page.records.map(seen));
    prepared.embedded.push(...page.embeddedProjects.map(seen));
    prepared.rejected.push(
      ...page.rejected.map((record) => ({ ...record, resource, request, observedAt: at })),
    );
    prepared.replacedNul += page.replacedNul;
    prepared.drift.push(...findDrift(resource, page.records));
    prepared.observedAt = at;
  }
  if (resource === "build") prepared.earlier = earlierStates(sightings);
  prepared.records = latestById(sightings, () => true);
  prepared.embedded = latestById(prepared.embedded, isNotOlder);
  return prepared;
}

/** The last sighting of each id, unless `replaces` says that the earlier one stays. */
function latestById(
  sightings: readonly ObservedRecord[],
  replaces: (later: NormalizedRecord, earlier: NormalizedRecord) => boolean,
): ObservedRecord[] {
  const byId = new Map<string, ObservedRecord>();
  for (const sighting of sightings) {
    const earlier = byId.get(sighting.record.id);
    // One that came again unchanged is dated as it came first: the page that held it then is not made to look stale.
    if (earlier?.record.hash === sighting.record.hash) continue;
    if (!earlier || replaces(sighting.record, earlier.record)) byId.set(sighting.record.id, sighting);
  }
  return [...byId.values()];
}

/** Of builds that came in several states the first sighting of each: the first states, the second ones, and so on, without each build's last. */
function earlierStates(sightings: readonly ObservedRecord[]): ObservedRecord[][] {
  const latest = new Map<string, { sighting: ObservedRecord; turn: number }>();
  const turns: ObservedRecord[][] = [];
  for (const sighting of sightings) {
    const { id, columns } = sighting.record;
    const before = latest.get(id);
    const hasMoved = before !== undefined && before.sighting.record.columns.state !== columns.state;
    if (hasMoved) {
      if (turns.length === before.turn) turns.push([]);
      turns[before.turn]?.push(before.sighting);
    }
    if (!before || hasMoved) latest.set(id, { sighting, turn: before ? before.turn + 1 : 0 });
  }
  return turns;
}

/** Every reference that loading the batch may have to resolve. */
export function* referencesOf({ records, earlier }: PreparedBatch): Generator<Reference> {
  for (const { record } of [records, ...earlier].flat())
    for (const { target } of record.references) yield target;
}

function isNotOlder(later: NormalizedRecord, earlier: NormalizedRecord): boolean {
  return String(later.columns.modified_date ?? "") >= String(earlier.columns.modified_date ?? "");
}
