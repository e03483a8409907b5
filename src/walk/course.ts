/**
 * The course of a walk: from the pages read so far, what to ask for next, and whether all of the list was
 * seen. The course gathers the facts after each page; the table in `verdicts.ts` says what follows from them.
 *
 *   pass ──page──▶ page … ──next is null──▶ end of the pass ──a row of proof──▶ whole
 *     ▲   no anchor: step back                   │  └─nothing new, a bound, a fault, a hole──▶ not_whole
 *     └──── again, with larger pages ────────────┘
 *
 * The proof. Let the list have a fixed order: of two records, the one that comes first does so in every reply
 * that holds both. Then a reply is a run of the list without gaps, as the list was at one moment. Call
 * covered what the pass has read, and suppose: every record that exists all through the walk and stands
 * before the end of what is covered, is covered. It holds for the first page, which begins at the start. Each
 * later request begins some records before the end of what is covered, and its page counts only when it holds
 * an anchor: a record that is covered already. From the anchor to its end the page has no gap, and up to the
 * anchor nothing is missing; so with the page added it holds again. When a page that counts has no next one,
 * the list ended there, and every record that existed all through the walk was seen, whatever was inserted or
 * deleted meanwhile, and in whatever order of time the pages were asked for. A page without an anchor proves
 * nothing: more was deleted in front of it than it overlaps. The course steps back, twice as far each time,
 * at worst to the start, where no anchor is needed.
 *
 * Is the order fixed? A list may show it: the pages of builds are sorted by a date that never changes. With
 * two anchors at every border one of them lies inside an earlier page, between an earlier and a later date,
 * so that no other record can share its place: such a pass is proof by itself. Any other order is only
 * believed. It is not fixed when anchors come in another order than before, or when fewer distinct ids were
 * seen than `total_count` says; and where records came and went, the two can hide each other. Then the list
 * is read again, with larger pages and so fewer borders.
 *
 * A page that cannot be rendered, or is too heavy to come, is asked for in halves down to the record at
 * fault. That record is left out as a hole. Everything here follows from the pages alone, so an interrupted
 * walk is brought back by reading the remembered pages once more.
 */
import type { Resource } from "../wire/resources.ts";
import { type CoveredIds, createCoveredIds } from "./covered-ids.ts";
import { createIdSet, type IdSet } from "./id-set.ts";
import { readNext } from "./next-link.ts";
import type { PageMeta } from "./page.ts";
import { firstRequest, type PageRequest, parsePageRequest, requestText } from "./page-request.ts";
import { type PassFacts, type VerdictName, verdictOn, type WalkFacts } from "./verdicts.ts";

/** What a server of this kind allows at most; one that allows less clamps it. */
const MAX_LIMIT = 1000;
const LIMIT_GROWTH = 10;
/**
 * One record in so many is read a second time by the next page; two at least, and never more than half a
 * page.
 */
const OVERLAP_SHARE = 50;
/** More records at fault side by side mean that the list cannot be read, not that its records are bad. */
const MAX_ADJACENT_HOLES = 20;

export interface CourseOptions {
  resource: Resource;
  /** The list's path from the root listing, such as `/api/v1/build/`. */
  listPath: string;
  /** The `limit` of the first pass. An overlap needs 2 at least. */
  pageSize: number;
  /** Whether a path that a `next` names is the list's own. */
  isListPath(path: string): boolean;
  /** Switched off only by the test that proves the proof. @default true */
  isOverlapping?: boolean;
}

/** What the course must know of a page. */
export interface PageFacts {
  meta: PageMeta;
  /** The ids on the page in its order; records without one are left out. */
  ids: readonly string[];
}

/** How a walk ended. */
export interface WalkOutcome {
  walk: "whole" | "not_whole" | "head";
  /** Why it is not whole, in words. */
  reason: string | null;
  /** What the last page said. */
  totalCount: number | null;
  /** Distinct ids seen. */
  records: number;
}

export interface Course {
  /** What is to be asked for next; null when the walk is at its end. */
  readonly request: PageRequest | null;
  /** Set when `request` is null. */
  readonly outcome: WalkOutcome | null;
  /** The row of `VERDICTS` that the page just read met; null before the first page. */
  readonly verdict: VerdictName | null;
  /** The distance between the page just read and the next one, while pages follow one another. */
  readonly step: number;
  /** Whether the last page counted; what a page without an anchor shows may have a gap before it. */
  readonly isAnchored: boolean;
  /**
   * Whether `request` is for more than the page size that was set, so that its failure may lie in its size.
   */
  readonly isEnlarged: boolean;
  /** Distinct ids of all passes. */
  readonly seen: IdSet;
  /** Takes the reply to `request`. */
  read(page: PageFacts): void;
  /**
   * Takes it that `request` cannot be rendered. Pages that were enlarged keep the size that was set from then
   * on. False when nothing smaller is left to ask for: the list as a whole is at fault.
   */
  narrow(): boolean;
  /**
   * Takes a remembered page in the place of a reply; false when it does not fit here, and then this course is
   * of no more use. A page smaller than what would be asked for had been narrowed.
   */
  replay(page: PageFacts & { request: string }): boolean;
}

/** One reading of the list from its start. */
interface Pass extends PassFacts {
  limit: number;
  covered: CoveredIds;
  /** Up to this offset no anchor is needed: the start of the list, or where none can be had. */
  barrier: number;
  /** The last page that counts. */
  last: { offset: number; ids: readonly string[] };
}

export function createCourse(options: CourseOptions): Course {
  const { resource, isOverlapping = true } = options;
  const seen = createIdSet();
  let passes = 0;
  let provenPasses = 0;
  let totalCount: number | null = null;
  /** Whether `total_count` ever changed. */
  let hasMoved = false;
  /** The offsets of records that cannot be rendered, the first ones for the message. */
  const holes: number[] = [];
  let holeCount = 0;
  let adjacentHoles = 0;
  /** `grown` of the pass before. */
  let lastGrown = 0;
  let pass: Pass;
  let request: PageRequest | null;
  let outcome: WalkOutcome | null = null;
  let verdict: VerdictName | null = null;
  let stepBack = 0;
  let step = 0;
  let isAnchored = true;
  const pageSize = isOverlapping ? Math.max(2, options.pageSize) : options.pageSize;
  beginPass(pageSize);

  function beginPass(limit: number): void {
    passes += 1;
    pass = {
      limit,
      covered: createCoveredIds(),
      barrier: 0,
      last: { offset: 0, ids: [] },
      pages: 0,
      newsPages: 0,
      isProven: true,
      showsOrder: true,
      isStill: true,
      hasGaps: false,
      fresh: 0,
      nameless: 0,
      grown: 0,
    };
    stepBack = 0;
    step = 0;
    request = firstRequest(options.listPath, limit);
  }

  function end(walk: WalkOutcome["walk"], reason: string | null = null): void {
    request = null;
    outcome = { walk, reason: reason && `${resource} list: ${reason}`, totalCount, records: seen.size };
  }

  function read(page: PageFacts): void {
    if (!request) throw new Error("the walk is at its end");
    adjacentHoles = 0;
    const at = request;
    noteTotal(page.meta.totalCount);
    for (const id of page.ids) if (seen.add(id)) pass.fresh += 1;
    const isStart = at.offset <= pass.barrier;
    const { anchors, isDisordered } = pass.covered.compare(page.ids);
    isAnchored = isStart || anchors > 0 || !isOverlapping;
    let added = 0;
    if (isAnchored) {
      if (isDisordered) pass.isProven = false;
      if (!page.meta.showsOrder || (!isStart && anchors < 2)) pass.showsOrder = false;
      if (page.meta.count > page.ids.length) {
        // A record without an id can be no anchor.
        pass.nameless += page.meta.count - page.ids.length;
        goOnUnproven(at.offset + page.meta.count);
      }
      // What came and went in front of the page shifts its anchors, also where the count stays the same.
      if (!isStart && !startsWith(page.ids, pass.last.ids.slice(at.offset - pass.last.offset)))
        pass.isStill = false;
      added = pass.covered.cover(page.ids);
      pass.last = { offset: at.offset, ids: page.ids };
      stepBack = 0;
    }
    pass.pages += 1;
    if (added > 0) pass.newsPages += 1;
    conclude(at, page);
  }

  /** Does what the verdict on the page says. */
  function conclude(at: PageRequest, page: PageFacts) {
    const facts = factsOf(at, page);
    const row = verdictOn(facts);
    verdict = row.name;
    step = 0;
    switch (row.outcome) {
      case "whole":
        return end("whole");
      case "not_whole":
        return end("not_whole", `${requestText(at)}: ${row.reason(facts)}`);
      case "larger_pages":
        return beginNextPass();
      case "read_again":
        provenPasses = facts.provenPasses;
        return beginNextPass();
      case "step_back":
        return goBack(at);
      case "go_on":
        return goOn(facts);
    }
  }

  function factsOf(at: PageRequest, { meta }: PageFacts): WalkFacts {
    const { limit, covered, barrier, last: _, ...counted } = pass;
    return {
      ...counted,
      at,
      count: meta.count,
      next: readNext(meta.next, at, options.isListPath),
      isAnchored,
      hasUnanchored: barrier > 0,
      canGrow: limit < MAX_LIMIT,
      covered: covered.size,
      passes,
      provenPasses: counted.isProven ? provenPasses + 1 : 0,
      lastGrown,
      seen: seen.size,
      totalCount,
      badTotal: meta.badTotal ?? "none",
      hasMoved,
      holeCount,
      holes,
    };
  }

  function goBack(at: PageRequest): void {
    pass.hasGaps = true;
    stepBack = Math.max(overlapOf(at.limit), stepBack * 2);
    request = { ...at, offset: Math.max(pass.barrier, at.offset - stepBack) };
  }

  function goOn({ at, count, next }: WalkFacts): void {
    // A server that gave less than it was asked for may have clamped the limit; nothing else in `next` changes it.
    const served = count < at.limit ? Math.min(at.limit, Math.max(count, next.limit)) : at.limit;
    const isNarrowed = at.limit < pass.limit;
    if (served < at.limit) pass.limit = served;
    const limit = isNarrowed ? Math.min(pass.limit, served * 2) : served;
    // Never beyond what came: a short page that has a next one leaves no gap behind it.
    const behind = Math.min(next.offset, at.offset + count);
    const overlap = isOverlapping ? Math.min(overlapOf(limit), behind - at.offset - 1) : 0;
    // After a page of one record there is no room for an anchor.
    if (isOverlapping && overlap === 0) goOnUnproven(behind);
    // Of `next` only the offset is taken: a filter in it would hide records.
    request = { ...at, limit, offset: Math.max(Math.min(pass.barrier, behind), behind - overlap) };
    step = request.offset - at.offset;
  }

  /** Lets the page at this offset count without an anchor, at the price of the proof. */
  function goOnUnproven(offset: number): void {
    pass.isProven = false;
    pass.barrier = offset;
  }

  function noteTotal(count: number | null): void {
    if (totalCount !== null && count !== totalCount) hasMoved = true;
    if (totalCount !== null && count !== null) pass.grown += Math.max(0, count - totalCount);
    totalCount = count;
  }

  function beginNextPass(): void {
    lastGrown = pass.grown;
    beginPass(Math.max(pass.limit, Math.min(MAX_LIMIT, pass.limit * LIMIT_GROWTH)));
  }

  function isEnlarged(): boolean {
    return request !== null && request.limit > pageSize;
  }

  function narrow(): boolean {
    if (!request) throw new Error("the walk is at its end");
    if (isEnlarged()) {
      pass.limit = pageSize;
      request = { ...request, limit: pageSize };
      return true;
    }
    if (request.limit > 1) {
      request = { ...request, limit: Math.floor(request.limit / 2) };
      return true;
    }
    if (adjacentHoles >= MAX_ADJACENT_HOLES) return false;
    adjacentHoles += 1;
    holeCount += 1;
    if (holes.length < MAX_ADJACENT_HOLES) holes.push(request.offset);
    goOnUnproven(request.offset + 1);
    request = { ...request, offset: pass.barrier };
    return true;
  }

  return {
    get request() {
      return request;
    },
    get outcome() {
      return outcome;
    },
    get verdict() {
      return verdict;
    },
    get step() {
      return step;
    },
    get isAnchored() {
      return isAnchored;
    },
    get isEnlarged() {
      return isEnlarged();
    },
    seen,
    read,
    narrow,
    replay(page) {
      const remembered = parsePageRequest(page.request);
      if (!remembered) return false;
      while (request && requestText(request) !== page.request) {
        const isNarrowed = request.limit > remembered.limit || request.offset < remembered.offset;
        if (!isNarrowed || request.offset > remembered.offset || !narrow()) return false;
      }
      if (!request) return false;
      read(page);
      return true;
    },
  };
}

function startsWith(ids: readonly string[], start: readonly string[]): boolean {
  return start.every((id, at) => ids[at] === id);
}

function overlapOf(limit: number): number {
  return Math.min(Math.max(2, Math.ceil(limit / OVERLAP_SHARE)), Math.floor(limit / 2));
}
