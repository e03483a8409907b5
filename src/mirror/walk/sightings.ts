/** The ids, the counts and the holes that all passes of a walk have met. */
import { createIdSet, type IdSet } from "./id-set.ts";
import { MAX_ADJACENT_HOLES } from "./moves.ts";
import type { PageFacts } from "./pass.ts";

interface Sightings {
  /** The distinct ids. */
  readonly seen: IdSet;
  /** The places that records filled beyond their first one on a single page: a reply shows the list at one moment. */
  repeated: number;
  readonly highest: HighestIds;
  /** The last `total_count` that was a number, and whether it ever changed. */
  totalCount: number | null;
  hasMoved: boolean;
  /** The offsets of the first holes; how many there are, and how many side by side in front of the next request. */
  readonly holes: number[];
  holeCount: number;
  adjacentHoles: number;
  /** Returns how many ids were not met before, and those of them that are not newer than the previous pass. */
  meet(page: PageFacts): { fresh: number; freshOld: number };
  leaveHole(offset: number): void;
}

export function createSightings(): Sightings {
  const seen = createIdSet();
  /** The most places beyond the first one on a page, by id. */
  const again = new Map<string, number>();
  const highest = createHighestIds();
  const met: Sightings = {
    seen,
    repeated: 0,
    highest,
    totalCount: null,
    hasMoved: false,
    holes: [],
    holeCount: 0,
    adjacentHoles: 0,
    meet({ ids, meta }) {
      met.adjacentHoles = 0;
      if (met.totalCount !== null && meta.totalCount !== met.totalCount) met.hasMoved = true;
      // Some services count for the first page alone.
      met.totalCount = meta.totalCount ?? met.totalCount;
      for (const [id, count] of repeatsOf(ids)) {
        const before = again.get(id) ?? 0;
        if (count <= before) continue;
        again.set(id, count);
        met.repeated += count - before;
      }
      let fresh = 0;
      let freshOld = 0;
      for (const id of ids) {
        if (!seen.add(id)) continue;
        fresh += 1;
        if (!highest.isNewer(id)) freshOld += 1;
        highest.take(id);
      }
      return { fresh, freshOld };
    },
    leaveHole(offset) {
      met.adjacentHoles += 1;
      met.holeCount += 1;
      if (met.holes.length < MAX_ADJACENT_HOLES) met.holes.push(offset);
    },
  };
  return met;
}

/** The records that stand more than once among these, with the number of their further places. */
export function repeatsOf(ids: readonly string[]): Map<string, number> {
  const repeats = new Map<string, number>();
  const met = new Set<string>();
  for (const id of ids) {
    if (met.has(id)) repeats.set(id, (repeats.get(id) ?? 0) + 1);
    met.add(id);
  }
  return repeats;
}

/** The highest ids that were known, pass by pass: a service gives its records rising numbers. */
interface HighestIds {
  beginPass(): void;
  take(id: string): void;
  /** Takes a number that was an id before the walk began. */
  know(id: number): void;
  /** True for a record that came after the previous pass began. False for no number, and with none known. */
  isNewer(id: string): boolean;
}

export function createHighestIds(): HighestIds {
  /** Now, before this pass, and before the previous one. */
  let now = Number.NEGATIVE_INFINITY;
  let beforePass = now;
  let beforeLastPass = now;
  return {
    beginPass() {
      [beforeLastPass, beforePass] = [beforePass, now];
    },
    take(id) {
      now = Math.max(now, numberOf(id) ?? now);
    },
    know(id) {
      now = Math.max(now, id);
      beforePass = Math.max(beforePass, id);
      beforeLastPass = Math.max(beforeLastPass, id);
    },
    isNewer(id) {
      const number = numberOf(id);
      return number !== null && Number.isFinite(beforeLastPass) && number > beforeLastPass;
    },
  };
}

const numberOf = (id: string) => (/^\d{1,15}$/.test(id) ? Number(id) : null);
