import type { Reference } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import type { ProjectSource } from "../../store/schema/records.ts";
import { type FieldDrift, findDrift, type NormalizedPage } from "../normalize/page.ts";
import type { ObservedRecord } from "./compare-records.ts";
import type { SeenCopy } from "./project-sightings.ts";
import type { RefusedRecord } from "./quarantine.ts";

export interface LoadablePage {
  records: readonly unknown[];
  request: string;
  /** @default observedAt */
  askedAt?: Date;
  observedAt: Date;
  /** The result of `Loader.normalize`. @default `load` does it */
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
  /** When the last of the pages arrived. */
  observedAt: string;
}

/** Sorts the records of a batch. `isCurrent`: the newest loaded copy of a project has this hash. */
export function prepareBatch(
  { resource, pages }: LoadableBatch,
  normalize: (resource: Resource, records: readonly unknown[]) => NormalizedPage,
  isCurrent: (id: string, hash: string) => boolean,
): PreparedBatch {
  const replies = pages.map(({ records, request, observedAt, askedAt = observedAt, normalized }) => ({
    page: normalized ?? normalize(resource, records),
    from: { request, askedAt: askedAt.toISOString(), observedAt: observedAt.toISOString() },
  }));
  const observed: ObservedRecord[] = replies.flatMap(({ page, from }) =>
    page.records.map((record) => ({ record, ...from })),
  );
  const copies = replies.flatMap(({ page, from }): EmbeddedCopy[] => [
    ...page.embeddedProjects.map((one) => ({ ...one, ...from, record: () => ({ record: one, ...from }) })),
    ...page.repeatedProjects.map(({ normalize, ...one }) => {
      return { ...one, ...from, record: () => ({ record: normalize(), ...from }) };
    }),
  ]);
  const latest = onePerId(copies, ({ id }) => id, isLaterCopy);
  const current = new Set(latest.filter(({ id, hash }) => isCurrent(id, hash)));
  return {
    records: onePerId(
      observed,
      ({ record }) => record.id,
      // One that came again unchanged keeps its first date: else its page would look stale.
      (copy, earlier) =>
        resource === "project" ? copy.askedAt >= earlier.askedAt : copy.record.hash !== earlier.record.hash,
    ),
    earlier: resource === "build" ? earlierStates(observed) : [],
    embedded: latest.filter((copy) => !current.has(copy)).map((copy) => copy.record()),
    repeated: [...current],
    rejected: replies.flatMap(({ page, from: { request, observedAt } }): RefusedRecord[] =>
      page.rejected.map((record) => ({ ...record, resource, request, observedAt })),
    ),
    damaged: replies.flatMap(({ page }) => page.damaged),
    replacedNul: replies.reduce((sum, { page }) => sum + page.replacedNul, 0),
    drift: replies.flatMap(({ page }) => findDrift(resource, page.records)),
    observedAt: replies.at(-1)?.from.observedAt ?? "",
  };
}

type EmbeddedCopy = SeenCopy & { record(): ObservedRecord };

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

/** True where a copy was asked for later. Within one reply, the later date decides. */
function isLaterCopy(copy: EmbeddedCopy, earlier: EmbeddedCopy): boolean {
  const dateOf = ({ record }: EmbeddedCopy) => String(record().record.columns.modified_date ?? "");
  return copy.askedAt === earlier.askedAt
    ? copy.hash !== earlier.hash && dateOf(copy) >= dateOf(earlier)
    : copy.askedAt > earlier.askedAt;
}

/** The states of builds that came in several: a list of the first ones, of the second ones and so on, without the last. */
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

export function* referencesOf({ records, earlier }: PreparedBatch): Generator<Reference> {
  for (const { record } of [records, ...earlier].flat())
    for (const { target } of record.references) yield target;
}
