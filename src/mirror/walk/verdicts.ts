/**
 * The verdict on a pass, as a table: after each page the course follows the first row that applies. The proof is at the
 * start of `course.ts`. `docs/internals/reliability.md` shows the conditions and outcomes, and a test keeps them equal.
 */
import type { NextLink, PageRequest } from "../../resources/page-request.ts";

const MAX_PASSES = 5;
/** The pages without a new record that a pass may have beyond those with one: some services never end. */
const SPARE_PAGES = 50;
/** The most pages of a pass, so that a service that invents records without end cannot fill the disk. */
const MAX_PAGES = 1_000_000;
const TOO_LONG = `pages without a new record outnumber the others by more than ${SPARE_PAGES}`;

/** The facts that the course counts during one pass. */
export interface PassFacts {
  /** All pages, and those that brought a new record. */
  pages: number;
  newsPages: number;
  /** Every page after the first had an anchor, all anchors came in their order; the records show that it is fixed. */
  isProven: boolean;
  showsOrder: boolean;
  /** Every page began with exactly the records with which the page before ended. */
  isStill: boolean;
  /** The course stepped back. */
  hasGaps: boolean;
  /** A page from the start showed the end of the list, not full and without a next one, and no page brought more since. */
  startIsEnd: boolean;
  /** The places of the newest page from the start that its records fill a second time. */
  startRepeats: number;
  /** A page of this walk was not full, but had a next one. So a page that is not full is no sign of the end. */
  hasShortPages: boolean;
  /** Ids that no earlier pass saw, and those of them that are not above the highest one known before the previous pass. */
  fresh: number;
  freshOld: number;
  /** Records without an id. */
  nameless: number;
}

/** The facts about a walk and its pass after a page. */
export interface WalkFacts extends PassFacts {
  /** The request for the page just read, and the number of records on that page. */
  at: PageRequest;
  count: number;
  /** The `total_count` of that page, and the last one that was a number; null without one, then `badTotal` came. */
  countedTo: number | null;
  totalCount: number | null;
  badTotal: string;
  /** `total_count` has changed. */
  hasMoved: boolean;
  /** That page is as long as the service says it may be; it only repeats the end of the one before. */
  isFull: boolean;
  isEcho: boolean;
  next: NextLink;
  /** That page counts; a page of the pass counted without an anchor, because none was possible. */
  isAnchored: boolean;
  hasUnanchored: boolean;
  /** Larger pages than those of the pass are possible. */
  canGrow: boolean;
  /** The distinct ids that this pass has covered, and that all passes have seen. */
  covered: number;
  seen: number;
  /** The places that records fill a second time on a page. An id on two pages may only have moved, and is none of them. */
  repeated: number;
  /** The passes of the walk, including this one, and the proven ones in a row up to this one. */
  passes: number;
  provenPasses: number;
  /** The number of records that cannot be rendered, and the offsets of the first of them. */
  holeCount: number;
  holes: readonly number[];
}

export type PassVerdict = {
  name: string;
  /** The condition in words, for the case that no earlier row applies. */
  when: string;
  applies(facts: WalkFacts): boolean;
  // `larger_pages` gives the pass up, `read_again` follows one that reached its end: both begin another pass.
} & (
  | { outcome: "whole" | "larger_pages" | "read_again" | "step_back" | "go_on" }
  | { outcome: "not_whole"; reason(facts: WalkFacts): string }
);

export const VERDICTS = [
  {
    // When every request has a new order, small pages have few anchors; larger ones may have more.
    name: "pages too small",
    when: `${TOO_LONG}, a page had no anchor or the order changed, and larger pages and another pass are left`,
    applies: (facts) =>
      isTooLong(facts) &&
      (facts.hasGaps || !facts.isProven) &&
      facts.canGrow &&
      facts.pages < MAX_PAGES &&
      facts.passes < MAX_PASSES,
    outcome: "larger_pages",
  },
  {
    name: "no end",
    when: `${TOO_LONG}, or a million pages were read`,
    applies: isTooLong,
    outcome: "not_whole",
    reason: ({ pages, newsPages }) =>
      `the list should have come to its end, but goes on after ${pages} pages, ${newsPages} of them with new records`,
  },
  {
    // There may be a gap before it, or it is an empty page after the end of a list that became shorter.
    name: "no anchor",
    when: "the page needs an anchor and has none",
    applies: ({ isAnchored }) => !isAnchored,
    outcome: "step_back",
  },
  {
    name: "next is unclear",
    when: "`next` names no page by limit and offset",
    applies: ({ next }) => next.leads === "unclear",
    outcome: "not_whole",
    reason: ({ next }) => `next should name a page by limit and offset, but is ${next.text}`,
  },
  {
    name: "next leaves the list",
    when: "`next` leads to another list",
    applies: ({ next }) => next.leads === "elsewhere",
    outcome: "not_whole",
    reason: ({ at, next }) => `next should stay on ${at.path}, but is ${next.text}`,
  },
  {
    name: "next leads back",
    when: "`next` leads to this page or an earlier one",
    applies: ({ next }) => next.leads === "back",
    outcome: "not_whole",
    reason: ({ at, next }) =>
      `next should lead on from offset ${at.offset}, but leads to offset ${next.offset}`,
  },
  {
    // It gives the next page no anchor and no place to begin.
    name: "empty page",
    when: "the page holds no record, but has a next one",
    applies: ({ next, count }) => next.leads === "on" && count === 0,
    outcome: "not_whole",
    reason: () => "the page holds no record, yet it has a next one",
  },
  {
    name: "next page",
    when: "there is a next page",
    applies: ({ next }) => next.leads === "on",
    outcome: "go_on",
  },
  {
    // A service may compute `next` from a count that is too small, or cut a page. One page more shows it.
    name: "end not shown",
    when:
      "`next` is null, but the page is full; or it shows something new, and ends elsewhere than its count says, or " +
      "an earlier page was short with a next one",
    applies(facts) {
      const { count, isFull, isEcho, hasShortPages, countedTo } = facts;
      const isDoubtful = hasShortPages || (countedTo !== null && placesOf(facts) !== countedTo);
      return count > 0 && (isFull || (!isEcho && isDoubtful));
    },
    outcome: "go_on",
  },
  {
    // The mirror compares its rows with the count, so a list without one is never settled.
    name: "no count",
    when: "no `total_count` is a number",
    applies: ({ totalCount }) => totalCount === null,
    outcome: "not_whole",
    reason: ({ badTotal }) => `total_count should be a number, but is ${badTotal}`,
  },
  {
    name: "holes",
    when: "a record could not be rendered",
    applies: ({ holeCount }) => holeCount > 0,
    outcome: "not_whole",
    reason: ({ holeCount, holes }) => {
      const places = `${holeCount === 1 ? "offset" : "offsets"} ${holes.join(", ")}${holeCount > holes.length ? ", …" : ""}`;
      return `the service cannot render ${holeCount} of its records, at ${places}`;
    },
  },
  {
    // A service that hides all records from this reader looks like an empty list, and so does one that has a bad moment.
    name: "nothing shown",
    when: "the pass has no id, but `total_count` is not 0; or the list is empty, and records were seen",
    applies: (facts) =>
      (facts.covered === 0 && facts.totalCount !== 0) || (facts.seen > 0 && placesOf(facts) === 0),
    outcome: "not_whole",
    reason: ({ totalCount, seen }) =>
      totalCount === 0
        ? `the list came empty, after ${seen} of its records were seen`
        : `the list shows no record where total_count says ${totalCount}`,
  },
  {
    // One reply held the whole list at one moment. There is no border at which a record could be missed, and a record that
    // stands twice there fills two places.
    name: "one reply",
    when: "a page from the start showed the end, no later one brought more, and there are no more places",
    applies: (facts) => facts.startIsEnd && isMetByPass(facts, facts.startRepeats),
    outcome: "whole",
  },
  {
    name: "order shown",
    when: "the pass is proven, and its pages show a fixed order",
    applies: (facts) => facts.isProven && facts.showsOrder,
    outcome: "whole",
  },
  {
    name: "still list",
    when: "the pass is proven, every page began as the one before had ended, no place is unseen, and `total_count` always said so",
    applies: (facts) => facts.isProven && facts.isStill && isMetAtRest(facts),
    outcome: "whole",
  },
  {
    // The fixed order is only an assumption, but two readings with different borders confirm it: the second found
    // nothing that the first had missed. Higher ids are those of records that came meanwhile.
    name: "two proven passes",
    when:
      "this pass and the one before are proven, each new id of this pass is above the highest one that was known " +
      "before them, and no more places are unseen than such ids came, or pages were short with a next one",
    applies: (facts) =>
      facts.provenPasses > 1 &&
      facts.freshOld === 0 &&
      (facts.hasShortPages || unseen(facts) <= 2 * facts.fresh),
    outcome: "whole",
  },
  {
    // The order may not be fixed, but the second reading found nothing new, and there is no place for more.
    name: "count met, nothing new",
    when:
      "the pass has no new id; and either all its pages had anchors and it has an id for each place, or no place is " +
      "unseen, and `total_count` always said so",
    applies: (facts) => facts.fresh === 0 && (isMetByPass(facts) || isMetAtRest(facts)),
    outcome: "whole",
  },
  {
    // Reading the list again would give them no ids.
    name: "records without an id",
    when: "places are unseen, and at least as many records of the pass have no id",
    applies: (facts) => unseen(facts) > 0 && unseen(facts) <= facts.nameless,
    outcome: "not_whole",
    reason: (facts) => `${countsOf(facts)}: ${unseen(facts)} of its records have no id`,
  },
  {
    name: "count not met, nothing new",
    when: "a later pass has no new id, and is not proven, or places are unseen though every page began as the one before had ended",
    applies: (facts) =>
      facts.passes > 1 && facts.fresh === 0 && (!facts.isProven || (facts.isStill && unseen(facts) > 0)),
    outcome: "not_whole",
    reason: (facts) => `${countsOf(facts)}, and reading it again found nothing new${orderOf(facts)}`,
  },
  {
    name: "passes used up",
    when: `${MAX_PASSES} passes were read`,
    applies: ({ passes }) => passes >= MAX_PASSES,
    outcome: "not_whole",
    reason: (facts) => `${countsOf(facts)}, after ${facts.passes} passes${orderOf(facts)}`,
  },
  {
    // Records are missed at borders. Larger pages have fewer borders, so the next pass may be proof.
    name: "not proven yet",
    when: "in all other cases",
    applies: () => true,
    outcome: "read_again",
  },
] as const satisfies readonly PassVerdict[];

export type VerdictName = (typeof VERDICTS)[number]["name"];

export function verdictOn(facts: WalkFacts): PassVerdict & { name: VerdictName } {
  const verdict = VERDICTS.find(({ applies }) => applies(facts));
  if (!verdict) throw new Error("the last row applies to all facts");
  return verdict;
}

function isTooLong({ pages, newsPages }: WalkFacts): boolean {
  return pages - newsPages > SPARE_PAGES + newsPages || pages >= MAX_PAGES;
}

/** The number of places up to the end of the last page: its own offset says it, whatever `total_count` says. */
function placesOf({ at, count }: WalkFacts): number {
  return at.offset + count;
}

function unseen(facts: WalkFacts): number {
  return placesOf(facts) - facts.seen - facts.repeated;
}

/**
 * True where this pass alone has an id for each place. The ids of all passes include deleted ones, so in a list
 * that changes they prove nothing. A pass with a page that counted without an anchor proves nothing either: a
 * deleted id can make up for a record that the page left out.
 */
function isMetByPass(facts: WalkFacts, repeats = 0): boolean {
  return facts.covered + repeats >= placesOf(facts) && !facts.hasUnanchored;
}

/** True where the count never changed, and there are as many ids as places, and as many as it says. */
function isMetAtRest(facts: WalkFacts): boolean {
  return unseen(facts) === 0 && placesOf(facts) === facts.countedTo && !facts.hasMoved;
}

function countsOf(facts: WalkFacts): string {
  const { seen, totalCount } = facts;
  const places = placesOf(facts);
  const counted = places === totalCount ? "" : `, and the last page ends at place ${places}`;
  return `${seen} distinct ids were seen where total_count says ${totalCount}${counted}`;
}

function orderOf({ isProven }: WalkFacts): string {
  return isProven ? "" : "; its order is not fixed";
}
