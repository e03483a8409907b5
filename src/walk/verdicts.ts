/**
 * The verdict on a pass, as a table. After each page the course gathers the facts and follows the first row
 * that applies. Rows without a next page end the pass; the proof that they refer to opens `course.ts`.
 * `docs/reliability.md` shows this table, and a test keeps it equal.
 */
import type { NextLink } from "./next-link.ts";
import type { PageRequest } from "./page-request.ts";

const MAX_PASSES = 5;
/**
 * Pages without a new record that a pass may have beyond those with one. A service that always has a next
 * page meets it.
 */
const SPARE_PAGES = 50;
/** No list is followed further: a service that makes up records for ever must not fill the disk. */
const MAX_PAGES = 1_000_000;
const TOO_LONG = `pages without a new record outnumber those with one by more than ${SPARE_PAGES}`;

/** What the course counts during one pass. */
export interface PassFacts {
  pages: number;
  /** Those of them that brought a new record. */
  newsPages: number;
  /** Every page after the first held an anchor, and all anchors came in their order. */
  isProven: boolean;
  /** The pages showed by their records that the order is fixed. */
  showsOrder: boolean;
  /** Every page began with the very records with which the one before had ended. */
  isStill: boolean;
  /** A page had no anchor, and the course stepped back. */
  hasGaps: boolean;
  /** Ids that no earlier pass saw. */
  fresh: number;
  /** Records without an id. */
  nameless: number;
  /** By how much `total_count` rose from page to page, summed up: so many records at least were inserted. */
  grown: number;
}

/** What is known of a walk and its pass when a page was read. */
export interface WalkFacts extends PassFacts {
  /** The request for the page just read. */
  at: PageRequest;
  /** Records on that page. */
  count: number;
  next: NextLink;
  /** Whether that page counts: it holds an anchor, or needs none. */
  isAnchored: boolean;
  /** Whether the pass has a page that counted without an anchor, because none could be had. */
  hasUnanchored: boolean;
  /** Whether the service may be asked for larger pages than those of the pass. */
  canGrow: boolean;
  /** Distinct ids that the pass has covered. */
  covered: number;
  /** Passes of the walk, with this one. */
  passes: number;
  /** Passes in a row that were proven, up to this one. */
  provenPasses: number;
  /** `grown` of the pass before. */
  lastGrown: number;
  /** Distinct ids of all passes. */
  seen: number;
  /** What the last page said; null when that is no number. */
  totalCount: number | null;
  /** What stood in the place of a number. */
  badTotal: string;
  /** Whether `total_count` ever changed. */
  hasMoved: boolean;
  /** Records that cannot be rendered. */
  holeCount: number;
  /** The offsets of the first of them. */
  holes: readonly number[];
}

interface Row {
  name: string;
  /** The condition in words. Earlier rows do not apply. */
  when: string;
  applies(facts: WalkFacts): boolean;
  /** Why this is proof, or why it is not. */
  why: string;
}

/** What comes next. */
export type Verdict =
  | (Row & {
      /**
       * `larger_pages` gives the pass up and begins another; `read_again` begins another behind a pass that
       * came to its end. `step_back` asks for the page further back; `go_on` asks for the next page.
       */
      outcome: "whole" | "larger_pages" | "read_again" | "step_back" | "go_on";
    })
  | (Row & {
      outcome: "not_whole";
      /** What the user reads. */
      reason(facts: WalkFacts): string;
    });

export const VERDICTS = [
  {
    name: "pages too small",
    when: `${TOO_LONG}, a page had no anchor or the order changed, and larger pages and another pass are left`,
    applies: (facts) =>
      isTooLong(facts) &&
      (facts.hasGaps || !facts.isProven) &&
      facts.canGrow &&
      facts.pages < MAX_PAGES &&
      facts.passes < MAX_PASSES,
    outcome: "larger_pages",
    why: "In an order that is new for every request small pages hold few anchors; larger ones may hold more.",
  },
  {
    name: "no end",
    when: `${TOO_LONG}, or a million pages were read`,
    applies: isTooLong,
    outcome: "not_whole",
    why: "A list that always has a next page never shows its end, and the end is never guessed.",
    reason: ({ pages, newsPages }) =>
      `the list should have come to its end, but goes on after ${pages} pages, ${newsPages} of them with new records`,
  },
  {
    name: "no anchor",
    when: "the page holds no record that is covered already, and needs one",
    applies: ({ isAnchored }) => !isAnchored,
    outcome: "step_back",
    why: "More records went in front of the page than it overlaps, so there may be a gap before it. An empty page behind the end of a list that became shorter holds no anchor either.",
  },
  {
    name: "next is unclear",
    when: "`next` names no page by limit and offset",
    applies: ({ next }) => next.leads === "unclear",
    outcome: "not_whole",
    why: "The list goes on, and nothing says where.",
    reason: ({ next }) => `next should name a page by limit and offset, but is ${next.text}`,
  },
  {
    name: "next leaves the list",
    when: "`next` leads to another path or another service",
    applies: ({ next }) => next.leads === "elsewhere",
    outcome: "not_whole",
    why: "The list goes on, but the records there may be those of another list.",
    reason: ({ at, next }) => `next should stay on ${at.path}, but is ${next.text}`,
  },
  {
    name: "next leads back",
    when: "`next` leads to this page or one in front of it",
    applies: ({ next }) => next.leads === "back",
    outcome: "not_whole",
    why: "The list goes on, but this way the same pages would be read for ever.",
    reason: ({ at, next }) =>
      `next should lead on from offset ${at.offset}, but leads to offset ${next.offset}`,
  },
  {
    name: "empty page",
    when: "the page holds no record, yet it has a next one",
    applies: ({ next, count }) => next.leads === "on" && count === 0,
    outcome: "not_whole",
    why: "It leaves the next page no anchor and no place to begin.",
    reason: () => "the page holds no record, yet it has a next one",
  },
  {
    name: "next page",
    when: "there is a next page",
    applies: ({ next }) => next.leads === "on",
    outcome: "go_on",
    why: "Up to the end of this page nothing is missing; the end of the list is not reached.",
  },
  {
    name: "no count",
    when: "`total_count` is no number",
    applies: ({ totalCount }) => totalCount === null,
    outcome: "not_whole",
    why: "A `next` that is null too early would pass for the end of the list.",
    reason: ({ badTotal }) => `total_count should be a number, but is ${badTotal}`,
  },
  {
    name: "holes",
    when: "a record could not be rendered",
    applies: ({ holeCount }) => holeCount > 0,
    outcome: "not_whole",
    why: "The list holds a record of which only the place is known.",
    reason: ({ holeCount, holes }) => {
      const places = `${holeCount === 1 ? "offset" : "offsets"} ${holes.join(", ")}${holeCount > holes.length ? ", …" : ""}`;
      return `the service cannot render ${holeCount} of its records, at ${places}`;
    },
  },
  {
    name: "one reply",
    when: "the last page began at the start of the list, and the pass has as many ids as `total_count` says, or more",
    applies: (facts) => facts.at.offset === 0 && unseenIn(facts.covered, facts) <= 0,
    outcome: "whole",
    why: "One reply held all of the list, as it was at one moment: there is no border at which a record could be missed.",
  },
  {
    name: "order shown",
    when: "the pass is proven, its pages show that the order is fixed, and no more records are unseen than were inserted during it",
    applies: (facts) => facts.isProven && facts.showsOrder && isInserted(facts),
    outcome: "whole",
    why: "In a fixed order each page continues the one before it without a gap, and the pages show that it is fixed.",
  },
  {
    name: "still list",
    when: "the pass is proven, every page began as the one before had ended, and `total_count` never changed and is the number of ids seen",
    applies: (facts) => facts.isProven && facts.isStill && isMetAtRest(facts),
    outcome: "whole",
    why: "Nothing shows that a record came or went, and the ids are as many as the count says.",
  },
  {
    name: "two proven passes",
    when: "this pass and the one before it are proven, no more records are unseen than were inserted during it, and no more of its ids are new than were inserted during both",
    applies: (facts) =>
      facts.provenPasses > 1 && isInserted(facts) && facts.fresh <= facts.lastGrown + facts.grown,
    outcome: "whole",
    why: "The order is only believed, but two readings with other borders bear it out: the first missed nothing that the second found.",
  },
  {
    name: "count met, nothing new",
    when: "the pass has no new id; and every page of it had its anchor and its ids are as many as `total_count` says, or `total_count` never changed and is the number of ids seen",
    applies: (facts) => facts.fresh === 0 && (isMetByPass(facts) || isMetAtRest(facts)),
    outcome: "whole",
    why: "The order may not be fixed, but reading the list again found nothing that was missed, and the count has no room for more.",
  },
  {
    name: "records without an id",
    when: "there are unseen records, and no more of them than records of the pass without an id",
    applies: (facts) => unseen(facts) > 0 && unseen(facts) <= facts.nameless,
    outcome: "not_whole",
    why: "Nothing distinguishes these records, and reading the list again would give them no ids.",
    reason: (facts) => `${countsOf(facts)}: ${facts.nameless} of its records have no id`,
  },
  {
    name: "count not met, nothing new",
    when: "a later pass has no new id, and is not proven, or more records are unseen than were inserted during it",
    applies: (facts) => facts.passes > 1 && facts.fresh === 0 && !(facts.isProven && isInserted(facts)),
    outcome: "not_whole",
    why: "The ids and the count do not agree, and one more reading would bring nothing.",
    reason: (facts) => `${countsOf(facts)}, and reading it again found nothing new${orderOf(facts)}`,
  },
  {
    name: "passes used up",
    when: `${MAX_PASSES} passes were read`,
    applies: ({ passes }) => passes >= MAX_PASSES,
    outcome: "not_whole",
    why: "No pass was proof, and a list that always changes must not be read for ever.",
    reason: (facts) => `${countsOf(facts)}, after ${facts.passes} passes${orderOf(facts)}`,
  },
  {
    name: "not proven yet",
    when: "in all other cases",
    applies: () => true,
    outcome: "read_again",
    why: "Larger pages have fewer borders, where records hide: the next pass may be proof.",
  },
] as const satisfies readonly Verdict[];

export type VerdictName = (typeof VERDICTS)[number]["name"];

/** The first row that applies. */
export function verdictOn(facts: WalkFacts): Verdict & { name: VerdictName } {
  const verdict = VERDICTS.find(({ applies }) => applies(facts));
  if (!verdict) throw new Error("the last row applies to all facts");
  return verdict;
}

function isTooLong({ pages, newsPages }: WalkFacts): boolean {
  return pages - newsPages > SPARE_PAGES + newsPages || pages >= MAX_PAGES;
}

/** How many more records `total_count` says than these. */
function unseenIn(ids: number, { totalCount }: WalkFacts): number {
  return (totalCount ?? 0) - ids;
}

/** How many more records `total_count` says than were seen; negative when more were seen. */
function unseen(facts: WalkFacts): number {
  return unseenIn(facts.seen, facts);
}

/** Whether all that was not seen may have been inserted during this pass. */
function isInserted(facts: WalkFacts): boolean {
  return unseen(facts) <= facts.grown;
}

/**
 * Ids that went away meanwhile count among those seen: in a list that moves, one pass alone must meet the
 * count. Where a page counted without an anchor, what it left out can be made up for by an id that went away
 * in the same pass.
 */
function isMetByPass(facts: WalkFacts): boolean {
  return unseenIn(facts.covered, facts) <= 0 && !facts.hasUnanchored;
}

/** Whether the count never changed and was met. */
function isMetAtRest(facts: WalkFacts): boolean {
  return unseen(facts) === 0 && !facts.hasMoved;
}

function countsOf({ seen, totalCount }: WalkFacts): string {
  return `${seen} distinct ids were seen where total_count says ${totalCount}`;
}

function orderOf({ isProven }: WalkFacts): string {
  return isProven ? "" : "; its order is not fixed";
}
