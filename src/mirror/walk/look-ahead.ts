/**
 * The most bytes of pages before nothing more is asked for ahead. More would not be faster: pages of several
 * hundred kilobytes take longer to load than to arrive.
 */
const MOST_BYTES = 4.5 * 1024 * 1024;

/**
 * The memory for pages, from the request until they are stored. All lists that are walked at the same time
 * share it. A page asked for ahead needs room, by the bytes of the page before it. The page that a walk waits
 * for takes it in any case, so that each list goes on.
 */
export interface LookAheadRoom {
  /** Takes room for a page asked for ahead. False when there is none. */
  take(bytes: number): boolean;
  /** Takes room for a page that is there, even where there is none. */
  hold(bytes: number): void;
  give(bytes: number): void;
}

export function createLookAheadRoom(): LookAheadRoom {
  let left = MOST_BYTES;
  return {
    take(bytes) {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    hold(bytes) {
      left -= bytes;
    },
    give(bytes) {
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
