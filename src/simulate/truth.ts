import type { RecordTypes } from "../serve/catalog.ts";
import type { Resource } from "../wire/resources.ts";

export interface TrueRecord<R> {
  record: R;
  /** False for a project that lists hide and whose detail answers 404. */
  listed: boolean;
}

/** A build entered a state. The first one of a build has no `from`. */
export interface TrueTransition {
  buildId: string;
  from: string | null;
  to: string;
  /** Milliseconds since 1970 with a fraction: exact to the microsecond. */
  atMs: number;
}

export interface TrueDeletion {
  resource: Resource;
  id: string;
  atMs: number;
}

/** What really is and was in a world, for tests. Each call reads the world as it is then. */
export interface Truth {
  /** All live records, in the order of their ids' birth. They are generated one by one while iterating. */
  records<R extends Resource>(resource: R): Iterable<TrueRecord<RecordTypes[R]>>;
  /** All transitions up to now, build by build in the order of their ids; those of deleted builds up to their end. */
  transitions(): Iterable<TrueTransition>;
  /** Everything deleted since the world began, in the order of time. */
  deletions(): readonly TrueDeletion[];
}
