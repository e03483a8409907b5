/** The most bytes asked for ahead. More is no faster: pages take longer to load than to arrive. */
const MOST_BYTES = 4.5 * 1024 * 1024;

export type LookAheadRoom = ReturnType<typeof createLookAheadRoom>;

/**
 * The memory for pages, from the request until they are stored. All lists that are walked at the same time
 * share it. A page asked for ahead needs room, by the bytes of the page before it. The page that a walk waits
 * for takes it in any case, so that each list goes on.
 */
export function createLookAheadRoom() {
  let left = MOST_BYTES;
  return {
    /** Takes room for a page asked for ahead. False when there is none. */
    take(bytes: number): boolean {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    /** Takes room for a page that is there, even where there is none. */
    hold(bytes: number): void {
      left -= bytes;
    },
    give(bytes: number): void {
      left += bytes;
    },
  };
}

/** The pages asked for ahead: twice the requests in flight, so that these go on while the walk waits. */
export function lookAheadOf(concurrency: number): number {
  return 2 * concurrency;
}

/** The number of wrong guesses allowed: a list that changes or is narrowed causes some. */
const FORGIVEN_MISSES = 3;
const HITS_PER_MISS = 16;

/** How often pages asked for ahead were wanted, and how often they were dropped. */
export function createGuessRecord() {
  let hits = 0;
  let misses = 0;
  return {
    hit(): void {
      hits += 1;
    },
    miss(): void {
      misses += 1;
    },
    /** Whether asking ahead is still worth it. */
    get isGood(): boolean {
      return misses <= FORGIVEN_MISSES + hits / HITS_PER_MISS;
    },
  };
}
