/** The number of known records in a row after which the head has joined what was read before. */
const JOIN_RECORDS = 20;

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
    /** Whether the head has joined. */
    isJoined: () => inARow.size >= JOIN_RECORDS,
  };
}
