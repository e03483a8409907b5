import type { RecordTypes, Resource } from "../resources/resources.ts";
import type { Micros } from "./local-dates.ts";
import type { Records, WorldParts } from "./records.ts";

export interface TrueRecord<R> {
  record: R;
  /** False for a project that the lists hide and whose detail answers 404. */
  listed: boolean;
}

/** A build entered a state. The first transition of a build has no `from`. */
export interface TrueTransition {
  buildId: string;
  from: string | null;
  to: string;
  /** Milliseconds since 1970 with a fraction, exact to the microsecond. */
  atMs: number;
}

export interface TrueDeletion {
  resource: Resource;
  id: string;
  atMs: number;
}

/** The true content and history of a world, for tests. Each call reads the current world. */
export type Truth = ReturnType<typeof createTruth>;

/** Reads the rows of a world directly, without the hiding and ordering of the protocol. */
export function createTruth(
  { population, builds, lives }: WorldParts,
  records: Records,
  deletions: readonly TrueDeletion[],
  now: () => Micros,
) {
  function* recordsOf(resource: Resource): Iterable<TrueRecord<RecordTypes[Resource]>> {
    if (resource === "build") {
      for (let row = 0; row < builds.rowCount; row++)
        if (builds.deletedAt(row) === Number.POSITIVE_INFINITY)
          yield { record: records.build(row, now()), listed: true };
      return;
    }
    for (const row of population.rosters[resource].byBirth())
      yield { record: records[resource](row as never), listed: !("hidden" in row && row.hidden) };
  }

  return {
    /** All records that are not deleted, in the order of their creation, made one by one. */
    records: <R extends Resource>(resource: R) => recordsOf(resource) as Iterable<TrueRecord<RecordTypes[R]>>,
    /** All transitions until now, build by build in the order of their ids. They end with a build's deletion. */
    *transitions(): Iterable<TrueTransition> {
      for (let row = 0; row < builds.rowCount; row++) {
        const end = Math.min(now(), builds.deletedAt(row));
        const life = lives.lifeOf(row, builds.createdAt(row), builds.project(row));
        let from: string | null = null;
        for (const { state, at } of life.steps) {
          if (at > end) break;
          yield { buildId: String(builds.idOf(row)), from, to: state, atMs: at / 1000 };
          from = state;
        }
      }
    },
    /** All deletions since the world began, in the order of time. */
    deletions: (): readonly TrueDeletion[] => deletions.slice(),
  };
}
