import { createIdSet } from "./id-set.ts";

/** The number of latest records whose place is remembered, to check that records keep their order. */
const REMEMBERED = 4096;

/** How a page overlaps the part of the list that was covered before it. */
export interface Overlap {
  /** The number of records of the page that were covered already. */
  anchors: number;
  /** Whether anchors came in another order than before. Then the order of this list is not fixed. */
  isDisordered: boolean;
}

/** The records that one pass over a list has covered, and the places of the latest ones. */
export interface CoveredIds {
  /** Compares a page with what is covered. */
  compare(ids: readonly string[]): Overlap;
  /** Adds a page to the covered part. Returns the number of its new records. */
  cover(ids: readonly string[]): number;
  /** Distinct records covered. */
  readonly size: number;
}

export function createCoveredIds(): CoveredIds {
  const covered = createIdSet();
  /** The places in the order of the list. The records that were read first come first. */
  const places = new Map<string, number>();
  let nextPlace = 0;

  /**
   * Gives the new records of a page their places: after all others, or, before a known record, between their
   * neighbours, because they were added there since.
   */
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
    compare(ids) {
      let anchors = 0;
      let lastPlace = Number.NEGATIVE_INFINITY;
      let isDisordered = false;
      for (const id of ids) {
        if (!covered.has(id)) continue;
        anchors += 1;
        const at = places.get(id);
        if (at === undefined) continue;
        if (at < lastPlace) isDisordered = true;
        lastPlace = at;
      }
      return { anchors, isDisordered };
    },
    cover(ids) {
      place(ids);
      let added = 0;
      for (const id of ids) if (covered.add(id)) added += 1;
      for (const oldest of places.keys()) {
        if (places.size <= REMEMBERED) break;
        places.delete(oldest);
      }
      return added;
    },
    get size() {
      return covered.size;
    },
  };
}
