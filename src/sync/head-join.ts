/** So many records in a row must be known before the head of a list has joined what was read before. */
const JOIN_RECORDS = 20;
/** Records read behind that point at most, for the sake of a count that says more. */
const SEARCHED_RECORDS = 1000;

/** What a page of the head brought. */
export interface HeadPage {
  ids: readonly string[];
  /** Records that were not here, or deleted here. */
  newRecords: number;
  totalCount: number | null;
}

/**
 * Decides where the reading of a list's head may end, page by page. One known record proves nothing: a build dated in the future stays at
 * the top, and one with an older date, or an id out of order, stands among known ones. So 20 known records in a row are asked for, and that
 * as many new ones were found as `total_count` on the first page is above `expectedTotal`, what the list should have by the last look: a
 * clock that was set back puts new builds further down. For these it reads on, 1,000 known records at most, since a list may also grow at
 * its far end. What comes in during the reading stands above it, and is for the next look.
 */
export function createHeadJoin(expectedTotal: number | null): (page: HeadPage) => boolean {
  let known = new Set<string>();
  let found = 0;
  let counted: number | null | undefined;
  return ({ ids, newRecords, totalCount }) => {
    if (counted === undefined) counted = totalCount;
    if (newRecords > 0) {
      found += newRecords;
      known = new Set();
      return false;
    }
    for (const id of ids) known.add(id);
    const grown = expectedTotal === null || counted === null ? 0 : counted - expectedTotal;
    const enough = found >= grown ? JOIN_RECORDS : SEARCHED_RECORDS;
    return known.size >= enough;
  };
}
