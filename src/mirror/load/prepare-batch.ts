import type { Reference } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import { type FieldDrift, findDrift, type NormalizedPage } from "../normalize/page.ts";
import type { NormalizedRecord } from "../normalize/record.ts";
import type { ObservedRecord } from "./compare-records.ts";
import type { SeenCopy } from "./project-sightings.ts";
import type { RefusedRecord } from "./quarantine.ts";

export interface LoadablePage {
  records: readonly unknown[];
  /** The path and query that gave the records. */
  request: string;
  /** When the request for the records was sent. @default observedAt */
  askedAt?: Date;
  observedAt: Date;
  /** The result of `Loader.normalize`. `load` normalizes the records itself when this is missing. */
  normalized?: NormalizedPage;
}

export interface LoadableBatch {
  resource: Resource;
  /** In the order of reading: when a record comes twice, the later copy wins. */
  pages: readonly LoadablePage[];
  source: Exclude<ProjectSource, "embedded">;
}

/** The pages of a batch, ready to load. */
export interface PreparedBatch {
  /** Each record once, as it was seen last. */
  records: ObservedRecord[];
  /** Earlier states of builds that come more than once, in their order. Most pages have none. */
  earlier: ObservedRecord[][];
  embedded: ObservedRecord[];
  /** Copies of projects that equal the newest loaded ones. */
  repeated: SeenCopy[];
  rejected: RefusedRecord[];
  /** The ids of records with characters in the place of bytes that did not fit. */
  damaged: string[];
  replacedNul: number;
  drift: FieldDrift[];
  /** When the last page arrived. */
  observedAt: string;
}

/** Sorts the records of a batch. `isCurrent`: the newest loaded copy of a project has this hash. */
export function prepareBatch(
  { resource, pages }: LoadableBatch,
  normalize: (resource: Resource, records: readonly unknown[]) => NormalizedPage,
  isCurrent: (id: string, hash: string) => boolean,
): PreparedBatch {
  const copies: EmbeddedCopy[] = [];
  const observed: ObservedRecord[] = [];
  const prepared: PreparedBatch = {
    records: [],
    earlier: [],
    embedded: [],
    repeated: [],
    rejected: [],
    damaged: [],
    replacedNul: 0,
    drift: [],
    observedAt: "",
  };
  for (const { records, request, observedAt, askedAt = observedAt, normalized } of pages) {
    const at = observedAt.toISOString();
    const page = normalized ?? normalize(resource, records);
    const asked = askedAt.toISOString();
    const seen = (record: NormalizedRecord): ObservedRecord => ({
      ...{ record, request, askedAt: asked, observedAt: at },
    });
    observed.push(...page.records.map(seen));
    for (const one of page.embeddedProjects) copies.push({ ...one, askedAt: asked, record: () => seen(one) });
    for (const one of page.repeatedProjects)
      copies.push({ ...one, askedAt: asked, record: () => seen(one.normalize()) });
    for (const record of page.rejected)
      prepared.rejected.push({ ...record, resource, request, observedAt: at });
    prepared.damaged.push(...page.damaged);
    prepared.replacedNul += page.replacedNul;
    prepared.drift.push(...findDrift(resource, page.records));
    prepared.observedAt = at;
  }
  if (resource === "build") prepared.earlier = earlierStates(observed);
  prepared.records = onePerId(
    observed,
    ({ record }) => record.id,
    // One that came again unchanged keeps its first date: else its page would look stale.
    (copy, earlier) =>
      resource === "project" ? copy.askedAt >= earlier.askedAt : copy.record.hash !== earlier.record.hash,
  );
  for (const copy of onePerId(copies, ({ id }) => id, isLaterCopy)) {
    if (isCurrent(copy.id, copy.hash)) prepared.repeated.push(copy);
    else prepared.embedded.push({ ...copy.record(), askedAt: copy.askedAt });
  }
  return prepared;
}

/** A copy of a project in a version or file. */
interface EmbeddedCopy extends SeenCopy {
  record(): ObservedRecord;
}

/** One copy of each id: the last one that `replaces` the copy before it. They come in the order of their first. */
function onePerId<Copy>(
  copies: readonly Copy[],
  idOf: (copy: Copy) => string,
  replaces: (copy: Copy, earlier: Copy) => boolean,
): Copy[] {
  const byId = new Map<string, Copy>();
  for (const copy of copies) {
    const earlier = byId.get(idOf(copy));
    if (!earlier || replaces(copy, earlier)) byId.set(idOf(copy), copy);
  }
  return [...byId.values()];
}

/** Whether a copy was asked for later. Within one reply, the later date decides. */
function isLaterCopy(copy: EmbeddedCopy, earlier: EmbeddedCopy): boolean {
  const dateOf = ({ record }: EmbeddedCopy) => String(record().record.columns.modified_date ?? "");
  return copy.askedAt === earlier.askedAt
    ? copy.hash !== earlier.hash && dateOf(copy) >= dateOf(earlier)
    : copy.askedAt > earlier.askedAt;
}

/**
 * For builds that came in several states, the first copy of each state: a list of first states, a list of second
 * states, and so on, without the last state of each build.
 */
function earlierStates(observed: readonly ObservedRecord[]): ObservedRecord[][] {
  const latest = new Map<string, { copy: ObservedRecord; turn: number }>();
  const turns: ObservedRecord[][] = [];
  for (const copy of observed) {
    const { id, columns } = copy.record;
    const before = latest.get(id);
    const hasMoved = before !== undefined && before.copy.record.columns.state !== columns.state;
    if (hasMoved) {
      if (turns.length === before.turn) turns.push([]);
      turns[before.turn]?.push(before.copy);
    }
    if (!before || hasMoved) latest.set(id, { copy, turn: before ? before.turn + 1 : 0 });
  }
  return turns;
}

/** Every reference of the records in the batch. */
export function* referencesOf({ records, earlier }: PreparedBatch): Generator<Reference> {
  for (const { record } of [records, ...earlier].flat())
    for (const { target } of record.references) yield target;
}
