/**
 * The most bytes of pages before nothing more is asked for ahead. More would not be faster: pages of several
 * hundred kilobytes take longer to load than to arrive.
 */
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

/**
 * The number of pages that a list asks for ahead, with so many requests in flight at once. There are twice as
 * many, so that the others go on while the walk waits for one page, for example because it stepped back.
 */
export function lookAheadOf(concurrency: number): number {
  return 2 * concurrency;
}
