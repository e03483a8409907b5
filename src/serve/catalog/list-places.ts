import { LRUCache } from "lru-cache";
import type { ListPlace } from "./list-order.ts";

/** A list with more known places forgets every second one. */
const PLACES_A_LIST = 4000;
const LISTS = 100;

interface KnownList {
  revision: string;
  /** Ascending. */
  offsets: number[];
  places: ListPlace[];
}

/**
 * Where slices of a list ended: the record before an offset. A later slice starts at the nearest one, so a walk
 * reads each row once, and a deep offset reads fewer rows the more slices were asked for. Places hold for one
 * revision of their list.
 */
export interface ListPlaces {
  /** The known place with the largest offset that is not behind `offset`. */
  nearest(list: string, revision: string, offset: number): { offset: number; place: ListPlace } | null;
  /** Remembers that `place` is the record just before `offset`. */
  add(list: string, revision: string, offset: number, place: ListPlace): void;
}

export function createListPlaces(): ListPlaces {
  const lists = new LRUCache<string, KnownList>({ max: LISTS });

  return {
    nearest(list, revision, offset) {
      const known = lists.get(list);
      if (known?.revision !== revision) return null;
      const at = countUpTo(known.offsets, offset) - 1;
      const place = known.places[at];
      return place === undefined ? null : { offset: known.offsets[at] ?? 0, place };
    },
    add(list, revision, offset, place) {
      let known = lists.get(list);
      if (known?.revision !== revision) {
        known = { revision, offsets: [], places: [] };
        lists.set(list, known);
      }
      const at = countUpTo(known.offsets, offset);
      if (known.offsets[at - 1] === offset) return;
      known.offsets.splice(at, 0, offset);
      known.places.splice(at, 0, place);
      if (known.offsets.length <= PLACES_A_LIST) return;
      known.offsets = known.offsets.filter((_, place) => place % 2 === 0);
      known.places = known.places.filter((_, place) => place % 2 === 0);
    },
  };
}

/** How many of the ascending numbers are at most `limit`. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
