/**
 * Finds where a sorted list differs from what is known of it, by counts alone: in few requests, because ranges without a
 * difference are not read. `docs/internals/reliability.md` ("Differences are found where they are") says what that proves.
 *
 * The list comes newest first by a date that never changes. Places are counted from its end (`total_count` less the
 * offset, both of one reply), so that births at the head move none of them. Where a page shows two dates, it has a border
 * between them, and says how many records of the list are older than that border.
 *
 *   the head's last border ──▶ one range, down to the end
 *   range ──a full page at its middle──▶ what lies between the first and the last date of the page is shown whole: what
 *     is known of it and not shown is missing, what is shown and not known is stored
 *   ──▶ a range above and one below: those whose count here differs from the count there go on
 *
 * The borders of a range may come from replies of different states. So a range is only a place to look: whether all is
 * found shows when the head is read again and the counts agree.
 */

/** A page of the list as it stands in one reply. */
export interface DatedPage {
  offset: number;
  places: number;
  /** The dates of its records, none later than the one before, as texts of one length. */
  dates: readonly string[];
  /**
   * Where it shows the end of the list: the places that are counted behind its last record. 0: that is the end by its count too.
   * Below 0: it shows more than are counted. Null where the list goes on.
   */
  behind: number | null;
}

/** The records with a date in between, both included. Without `oldest` down to the end of the list. */
export interface DateRange {
  newest: string;
  oldest: string | null;
}

export interface OpenRange {
  newerThan: string | null;
  olderThan: string | null;
}

/** A border: so many of the records that the list shows are dated at `newest` or before. */
export interface Border extends Pick<DatedPage, "places"> {
  newest: string;
  below: number;
}

export interface BisectionParts {
  /** Reads a page, stores its records, and notes what is missing in the range that it shows whole. Null: it shows no order. */
  read(offset: number, limit: number): Promise<DatedPage | null>;
  /** Counts the records that the list should show in each range, by those that are stored. */
  count(ranges: readonly DateRange[]): Promise<number[]>;
}

/** A range that no page made smaller for so many times is given up. */
const MOST_TRIES = 4;
const LARGEST_LIMIT = 1000;

interface Range extends DateRange {
  /** The records dated at `newest` or before, and those before `oldest`. */
  from: number;
  to: number;
  limit: number;
  tries: number;
}

/**
 * Reads pages below a border until no range differs, `width` at the same time, or the budget is used. `isDone`: every range
 * with a difference was read, so the counts agree, unless the list changed meanwhile. Throws what the parts throw.
 */
export async function bisect(
  top: Border,
  parts: BisectionParts,
  { limit, budget, width = 4 }: { limit: number; budget: number; width?: number },
): Promise<{ requests: number; isDone: boolean }> {
  const all: Range = { newest: top.newest, oldest: null, from: top.below, to: 0, limit, tries: 0 };
  // The newest range is on top, so that a small budget finds some differences instead of half of each.
  const open = await differing([all], parts);
  let { places } = top;
  let requests = 0;
  let isGivenUp = false;
  while (open.length > 0 && requests < budget) {
    const taken = open.splice(-Math.min(width, budget - requests));
    requests += taken.length;
    // All of them, because nothing may be written after this has thrown.
    const replies = await Promise.allSettled(
      taken.map((range) => parts.read(placeOf(range, places), range.limit)),
    );
    const pages = replies.map((reply) => {
      if (reply.status === "rejected") throw reply.reason;
      places = reply.value?.places ?? places;
      return reply.value;
    });
    const pieces = taken.flatMap((range, at) => {
      const page = pages[at];
      return page ? split(range, page) : [{ ...range, tries: MOST_TRIES }];
    });
    const left = pieces.filter(({ tries }) => tries < MOST_TRIES);
    isGivenUp ||= left.length < pieces.length;
    open.push(...(await differing(left, parts)));
  }
  return { requests, isDone: open.length === 0 && !isGivenUp };
}

/** The last border on a page. Null where it shows a single date, or none. */
export function lastBorder({ offset, places, dates }: DatedPage): Border | null {
  const newest = dates.at(-1);
  if (newest === undefined || newest === dates[0]) return null;
  return { newest, below: places - offset - dates.indexOf(newest), places };
}

/** The range that a page shows whole: records of its first and its last date may go on beyond it. Null without records. */
export function shownWhole({ offset, dates, behind }: DatedPage): OpenRange | null {
  const [first, last] = [dates[0], dates.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { newerThan: behind === 0 ? null : last, olderThan: offset === 0 ? null : first };
}

/** The ranges in which the list has more or fewer records than are stored. */
async function differing(ranges: readonly Range[], parts: BisectionParts): Promise<Range[]> {
  if (ranges.length === 0) return [];
  const stored = await parts.count(ranges);
  return ranges.filter(({ from, to }, at) => from - to !== stored[at]);
}

function placeOf({ from, to, limit }: Range, places: number): number {
  const start = places - from;
  const size = Math.max(0, from - to);
  const fits = size <= limit - 2;
  const shift = fits ? -Math.ceil((limit - size) / 2) : Math.floor((Math.ceil(size / limit) - 1) / 2) * limit;
  return Math.max(0, start + shift);
}

function split(range: Range, { offset, places, dates, behind }: DatedPage): Range[] {
  const size = range.from - range.to;
  const first = dates[0];
  const last = dates.at(-1);
  const end = places - offset - dates.length;
  // Beyond the end of a list that became shorter.
  if (first === undefined || last === undefined)
    return [{ ...range, from: Math.min(range.from, places), tries: range.tries + 1 }];
  if (first === last) return [grow(range)];
  const from = (at: number) => places - offset - at;
  const pieces: Range[] = [];
  if (offset > 0 && first <= range.newest) {
    const second = dates.findIndex((date) => date !== first);
    pieces.push({ ...range, oldest: first, to: second < 0 ? end : from(second) });
  }
  if (behind !== 0 && (range.oldest === null || last >= range.oldest)) {
    // A page that lies above the range says only how many records are below it.
    const isAbove = last > range.newest;
    const at = dates.indexOf(last);
    // The list shows nothing of what is counted behind its end.
    const shown = range.oldest === null && behind !== null ? dates.length - at : from(at);
    pieces.push(
      isAbove ? { ...range, from: Math.min(range.from, end) } : { ...range, newest: last, from: shown },
    );
  }
  return pieces.map((piece) => (piece.from - piece.to < size ? { ...piece, tries: 0 } : grow(piece)));
}

/** A page of one date has no border inside its range. A larger one may reach past these records. */
function grow(range: Range): Range {
  return { ...range, limit: Math.min(LARGEST_LIMIT, range.limit * 4), tries: range.tries + 1 };
}
