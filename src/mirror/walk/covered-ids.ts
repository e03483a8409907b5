import { createIdSet } from "./id-set.ts";

/** The number of latest records whose place is remembered, to check that records keep their order. */
const REMEMBERED = 4096;

export type CoveredIds = ReturnType<typeof createCoveredIds>;

/** The records that one pass over a list has covered, and the places of the latest ones. */
export function createCoveredIds() {
  const covered = createIdSet();
  /** The places in the order of the list. The records that were read first come first. */
  const places = new Map<string, number>();
  let nextPlace = 0;

  /** Places new records after all others, or between their neighbours where they were added since. */
  function place(ids: readonly string[]): void {
    let waiting: string[] = [];
    let before: number | null = null;
    for (const id of ids) {
      const known = places.get(id);
      if (known === undefined) {
        waiting.push(id);
        continue;
      }
      const from = before !== null && before < known ? before : known - 1;
      for (const [index, added] of waiting.entries()) {
        places.set(added, from + ((known - from) * (index + 1)) / (waiting.length + 1));
      }
      waiting = [];
      before = known;
    }
    for (const added of waiting) places.set(added, nextPlace++);
  }

  return {
    /**
     * Compares a page with what is covered. `ties` are the places of records that share the sort key of the
     * record before; among themselves these may come in any order.
     */
    compare(ids: readonly string[], ties: readonly number[] = []) {
      const tied = new Set(ties);
      /** The number of records of the page that were covered already. */
      let anchors = 0;
      /** The number of groups that they are in. Records that share a sort key are one group. */
      let groups = 0;
      let isCounted = false;
      /** The last place of the groups before, and of this one. */
      let before = Number.NEGATIVE_INFINITY;
      let last = Number.NEGATIVE_INFINITY;
      /** Whether anchors came in another order than before. Then the order of this list is not fixed. */
      let isDisordered = false;
      for (const [index, id] of ids.entries()) {
        if (!tied.has(index)) {
          before = last;
          isCounted = false;
        }
        if (!covered.has(id)) continue;
        anchors += 1;
        if (!isCounted) groups += 1;
        isCounted = true;
        const at = places.get(id);
        if (at === undefined) continue;
        if (at < before) isDisordered = true;
        last = Math.max(last, at);
      }
      return { anchors, groups, isDisordered };
    },
    /** Adds a page to the covered part. Returns the number of its new records. */
    cover(ids: readonly string[]): number {
      place(ids);
      let added = 0;
      for (const id of ids) if (covered.add(id)) added += 1;
      for (const oldest of places.keys()) {
        if (places.size <= REMEMBERED) break;
        places.delete(oldest);
      }
      return added;
    },
    /** Distinct records covered. */
    get size() {
      return covered.size;
    },
  };
}
