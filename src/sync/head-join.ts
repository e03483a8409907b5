/** So many records in a row must be known before the head of a list has joined what was read before. */
const JOIN_RECORDS = 20;
/** Known records read in a row at most, in search of those that upstream counts and that are not here. */
const SEARCHED_RECORDS = 1000;

/** What a page of the head showed. */
export interface HeadPage {
  ids: readonly string[];
  /** Whether every record on it is live and was stored by a run that left no gap. A refused record is not known. */
  isKnown: boolean;
}

/**
 * Counts how many known records came in a row, page by page. One known record proves nothing: a build dated in the future stays at the
 * top, and one with an older date, or an id out of order, stands among known ones.
 */
export function createHeadJoin() {
  let inARow = new Set<string>();
  return {
    add({ ids, isKnown }: HeadPage): void {
      if (!isKnown) inARow = new Set();
      else for (const id of ids) inARow.add(id);
    },
    /** Whether the head has joined. While `mayFindMore` it reads on, 1,000 records at most. */
    isJoined(mayFindMore: boolean): boolean {
      return inARow.size >= (mayFindMore ? SEARCHED_RECORDS : JOIN_RECORDS);
    },
  };
}
