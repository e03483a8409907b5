/** The number of known records in a row after which the head has joined what was read before. */
const JOIN_RECORDS = 20;
/** The most known records in a row to read, in search of records that upstream counts and that are not here. */
const SEARCHED_RECORDS = 1000;

/**
 * Counts the known records in a row, page by page. One known record proves nothing: a build dated in the
 * future stays at the top, and a new build with an older date is among known ones.
 */
export function createHeadJoin() {
  let inARow = new Set<string>();
  return {
    /** Adds a page. `isKnown`: each record is live and from a run without a gap. A refused one is not. */
    add({ ids, isKnown }: { ids: readonly string[]; isKnown: boolean }): void {
      if (!isKnown) inARow = new Set();
      else for (const id of ids) inARow.add(id);
    },
    /** Whether the head has joined. With `mayFindMore` it reads further, up to 1,000 known records. */
    isJoined(mayFindMore: boolean): boolean {
      return inARow.size >= (mayFindMore ? SEARCHED_RECORDS : JOIN_RECORDS);
    },
  };
}
