/**
 * The course of a walk. From the pages read so far it decides what to ask for next, and whether the whole
 * list was seen. The course collects facts after each page; the table in `verdicts.ts` says what follows from
 * them.
 *
 *   pass ──page──▶ page … ──next is null──▶ end of the pass ──a row of proof──▶ whole
 *     ▲   no anchor: step back                   │  └─nothing new, a limit, a fault, a hole──▶ not_whole
 *     └──── again, with larger pages ────────────┘
 *
 * The proof. Assume that the list has a fixed order: when record A is before record B in one reply, it is so
 * in every reply with both. Then a reply is a section of the list without gaps, as the list was at one
 * moment. The records that the pass has read are covered. The claim: every record that exists during the
 * whole walk, and is before the end of the covered part, is covered. The claim is true for the first page,
 * which begins at the start of the list. Each later request begins some records before the end of the covered
 * part, and its page counts only when it holds an anchor: a record that is covered already. From the anchor
 * to its end the page has no gap, and before the anchor nothing is missing. So the claim is still true with
 * this page added. When a page that counts shows the end of the list, every record that
 * existed during the whole walk was seen, no matter what was inserted or deleted in between, in which order
 * the pages were requested, and how many records each of them asked for. A page without an anchor proves
 * nothing: more records were deleted in front of it than it overlaps. The course then steps back, twice as far
 * each time, at worst to the start, where no anchor is needed. Meanwhile the page waits. When a page from
 * further back has closed the gap, it finds its anchor, and the course goes on behind it.
 *
 * So each request is a walker of its own: it starts at its own offset, at the same time as others
 * (`page-source.ts`), and is joined to the covered part by its anchors. There are as many walkers as requests
 * in flight, and each takes the next free section. No walker gets a long section for itself, so no page waits
 * long for the ones before it.
 *
 * Where is the end? A page shows it that has no next one, is not full, and ends where its own count says. A
 * full page shows no end, whatever `next` and the count say, because a service may compute both from a count
 * that it made long ago. A page that contradicts its count, or comes after short pages with a next one, may
 * have been cut. Then the course asks for one page more, a smaller one. When that page ends as the one before
 * and shows nothing new, the list ends there. The count is never needed for the proof.
 *
 * Is the order fixed? A list may show it: builds are sorted by a date that never changes. Records with equal
 * dates are a group, and may come in any order. Let e be the last date that is covered; the claim then is for
 * records with later dates than e. The next page needs anchors in two groups. The first of them is later than
 * the second, and so later than e. All records between its date and the last date of the page are on the page:
 * the claim holds for that date. At the end no group is cut. Such a pass is proof by itself. A page with anchors in
 * one group only is asked for again once, further back. Where all anchors of a border share one date, the
 * order is not shown.
 *
 * Any other order is only an assumption. It is wrong when anchors come in another order than before. Then, and
 * when the list moved, it is read again with larger pages, or with pages at other places where they cannot be
 * larger. If the order were not fixed, the second pass would show records that the first had missed. Records
 * that came meanwhile look the same, but their ids are higher than all that were known before. So two proven
 * passes are believed when the second shows no lower id that is new, and when no more places of the list are
 * unseen than new records can explain.
 *
 * A page that the service cannot render, or that is too large, is requested in halves, down to the record at
 * fault. That record is left out as a hole. Everything here follows from the pages alone, so reading the
 * remembered pages again restores an interrupted walk.
 */

import {
  firstRequest,
  type PageRequest,
  parsePageRequest,
  readNext,
  requestText,
} from "../../resources/page-request.ts";
import type { Resource } from "../../resources/resources.ts";
import { createIdSet } from "./id-set.ts";
import type { ParsedMeta } from "./page.ts";
import { LARGEST_SIZE } from "./page-size.ts";
import {
  createHighestIds,
  createPass,
  goOnUnproven,
  isFull,
  type Joint,
  joinPage,
  joinWaiting,
  type PageFacts,
  type Pass,
} from "./pass.ts";
import { overlapOf, requestBehind } from "./request-behind.ts";
import { type VerdictName, verdictOn, type WalkFacts } from "./verdicts.ts";

const LIMIT_GROWTH = 10;
/** More holes side by side mean that the list cannot be read, not that its records are bad. */
const MAX_ADJACENT_HOLES = 20;

export type { PageFacts } from "./pass.ts";

export interface CourseOptions {
  resource: Resource;
  /** The list's path from the root listing, such as `/api/v1/build/`. */
  listPath: string;
  /** The `limit` of the first pass, and of what an enlarged page is narrowed to. At least 2. */
  pageSize: number;
  /** Whether the path of a `next` is the path of this list. */
  isListPath(path: string): boolean;
  /** Only the test of the proof switches this off. @default true */
  isOverlapping?: boolean;
}

/** How a walk ended. */
export interface WalkOutcome {
  walk: "whole" | "not_whole" | "head";
  /** Why it is not whole, for people. */
  reason: string | null;
  /** The `total_count` of the last page. */
  totalCount: number | null;
  /** Distinct ids seen. */
  records: number;
}

export type Course = ReturnType<typeof createCourse>;

export function createCourse(options: CourseOptions) {
  const { resource, isOverlapping = true } = options;
  const highest = createHighestIds();
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
  let pass: Pass = createPass(options.pageSize);
  let request: PageRequest | null;
  let outcome: WalkOutcome | null = null;
  let verdict: VerdictName | null = null;
  /** The size that the latest page was served with, and the one with which the previous pass ended. */
  let served = 0;
  let servedBefore = 0;
  let stepBack = 0;
  /** Whether the part in front of a cut page was asked for again, and nothing new has come since. */
  let isRepeated = false;
  let step = 0;
  let isAnchored = true;
  const pageSize = atLeastTwo(options.pageSize);
  beginPass(pageSize);

  /** An overlap needs two records. */
  function atLeastTwo(limit: number): number {
    return isOverlapping ? Math.max(2, limit) : limit;
  }

  function beginPass(limit: number): void {
    passes += 1;
    servedBefore = served;
    highest.beginPass();
    pass = createPass(limit, pass.hasShortPages);
    stepBack = 0;
    step = 0;
    request = firstRequest(options.listPath, limit);
  }

  function end(walk: WalkOutcome["walk"], reason: string | null = null): void {
    request = null;
    outcome = { walk, reason: reason && `${resource} list: ${reason}`, totalCount, records: seen.size };
  }

  function takeId(id: string): void {
    if (!seen.add(id)) return;
    pass.fresh += 1;
    if (!highest.isNewer(id)) pass.freshOld += 1;
    highest.take(id);
  }

  /** Takes the reply to `request`. */
  function read(page: PageFacts): void {
    if (!request) throw new Error("the walk is at its end");
    adjacentHoles = 0;
    const at = request;
    if (totalCount !== null && page.meta.totalCount !== totalCount) hasMoved = true;
    totalCount = page.meta.totalCount;
    for (const id of page.ids) takeId(id);
    pass.pages += 1;
    const isStart = at.offset <= pass.barrier || !isOverlapping;
    // One step back costs less than a second reading of the list. At each border there is only one.
    const joint = joinPage(pass, at, page, isStart ? "none" : stepBack > 0 ? "one" : "two");
    isAnchored = joint.isAnchored;
    if (isAnchored) stepBack = 0;
    if (joint.hasNews) isRepeated = false;
    followVerdict(at, page, joint);
  }

  /** Acts on the verdict on the page. */
  function followVerdict(at: PageRequest, page: PageFacts, joint: Joint): void {
    const facts = factsOf(at, page, joint);
    const row = verdictOn(facts);
    verdict = row.name;
    step = 0;
    switch (row.outcome) {
      case "whole":
        end("whole");
        break;
      case "not_whole":
        end("not_whole", `${requestText(at)}: ${row.reason(facts)}`);
        break;
      case "larger_pages":
        beginNextPass();
        break;
      case "read_again":
        provenPasses = facts.provenPasses;
        beginNextPass();
        break;
      case "step_back":
        goBack(at, page);
        break;
      case "go_on": {
        const joined = joinWaiting(pass);
        if (joined) followVerdict(joined.at, joined.page, joined.joint);
        else goOn(facts, page.meta);
      }
    }
  }

  function factsOf(at: PageRequest, { meta }: PageFacts, { isEcho }: Joint): WalkFacts {
    const { limit, covered, barrier, last: _, waiting: __, ...counted } = pass;
    return {
      ...counted,
      at,
      count: meta.count,
      countedTo: meta.totalCount,
      isFull: isFull(at, meta),
      isEcho,
      next: readNext(meta.next, at, options.isListPath),
      isAnchored,
      hasUnanchored: barrier > 0,
      canGrow: limit < LARGEST_SIZE,
      covered: covered.size,
      passes,
      provenPasses: counted.isProven ? provenPasses + 1 : 0,
      seen: seen.size,
      totalCount,
      badTotal: meta.badTotal ?? "none",
      hasMoved,
      holeCount,
      holes,
    };
  }

  function goBack(at: PageRequest, page: PageFacts): void {
    pass.hasGaps = true;
    if (page.ids.length > 0) pass.waiting.push({ at, page });
    const overlap = overlapOf(at.limit);
    // At least this many records were deleted, by the count.
    const gone = Math.max(0, (pass.last.totalCount ?? 0) - (page.meta.totalCount ?? 0));
    stepBack = Math.max(overlap + Math.min(gone, at.limit), stepBack * 2);
    request = { ...at, offset: Math.max(pass.barrier, at.offset - stepBack) };
  }

  function goOn({ at, next }: WalkFacts, meta: ParsedMeta): void {
    const shiftAt = passes > 1 && pass.pages === 1 ? servedBefore : 0;
    const following = requestBehind({ at, meta, next, aim: pass.limit, isOverlapping, shiftAt, isRepeated });
    served = following.served;
    pass.limit = Math.min(pass.limit, following.aim);
    isRepeated ||= following.isSingle;
    // A page of one record leaves no room for an anchor.
    if (following.isUnanchored) goOnUnproven(pass, following.behind);
    const { behind, limit, offset } = following;
    request = { ...at, limit, offset: Math.max(Math.min(pass.barrier, behind), offset) };
    step = request.offset - at.offset;
    pass.waiting = pass.waiting.filter((waiting) => waiting.at.offset > (request?.offset ?? 0));
  }

  /**
   * Changes the `limit` of the next request and of those after it. A request that is narrowed grows to it
   * again page by page. Only for the first pass: later ones have a reason for their size.
   */
  function resize(limit: number): void {
    if (!request || passes > 1) return;
    const isNarrowed = request.limit < pass.limit;
    pass.limit = atLeastTwo(limit);
    if (!isNarrowed || request.limit > pass.limit) request = { ...request, limit: pass.limit };
  }

  /** Begins the next request earlier, so that it reads more of the page before again. That is as good a proof. */
  function beginEarlier(offset: number): void {
    if (!request || passes > 1 || offset <= Math.max(pass.barrier, request.offset - step)) return;
    if (offset < request.offset) request = { ...request, offset };
  }

  function beginNextPass(): void {
    beginPass(Math.max(pass.limit, Math.min(LARGEST_SIZE, pass.limit * LIMIT_GROWTH)));
  }

  /** Whether `request` is for more records than the page size that was set. Then its size may be why it fails. */
  function isEnlarged(): boolean {
    return request !== null && request.limit > pageSize;
  }

  /**
   * Called when `request` cannot be rendered: makes the next request smaller. Enlarged pages go back to the
   * size that was set. False when no smaller request is left, because the whole list is at fault.
   */
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
    goOnUnproven(pass, request.offset + 1);
    request = { ...request, offset: pass.barrier };
    return true;
  }

  return {
    /** The next request; null at the end of the walk. */
    get request() {
      return request;
    },
    /** Set when `request` is null. */
    get outcome() {
      return outcome;
    },
    /** The row of `VERDICTS` for the page just read; null before the first page. */
    get verdict() {
      return verdict;
    },
    /** The longest distance from the page just read to the next one; 0 when the next one does not follow it. */
    get step() {
      return step;
    },
    /** Whether the last page counted. There may be a gap before a page without an anchor. */
    get isAnchored() {
      return isAnchored;
    },
    get isEnlarged() {
      return isEnlarged();
    },
    /** The `limit` that this pass aims for. A narrowed request has a smaller one. */
    get limit() {
      return pass.limit;
    },
    /** The number of passes, including this one. */
    get passes() {
      return passes;
    },
    /** Whether no page of the list was read yet. */
    get isAtStart() {
      return passes === 1 && pass.pages === 0 && request?.offset === 0;
    },
    /** The distinct ids of all passes. */
    seen,
    /**
     * Takes the highest number that was an id before the walk began. Without it, no id that is new to the second
     * pass counts as that of a new record. The first pass does not need it.
     */
    knowHighestId: highest.know,
    resize,
    beginEarlier,
    read,
    narrow,
    /**
     * Takes a remembered page instead of a reply. False when it does not fit here; then do not use this course
     * any more. Its `limit` may be any: the page was narrowed, or the earlier walk had another size there.
     */
    replay(page: PageFacts & { request: string }): boolean {
      if (!resumeAt(page.request)) return false;
      read(page);
      return true;
    },
    resumeAt,
  };

  /** Sets the next request to the remembered one, after `replay`. False when it does not fit here. */
  function resumeAt(text: string): boolean {
    const remembered = parsePageRequest(text);
    if (!remembered || remembered.limit < 1) return false;
    // Further on means that the records before it were holes.
    while (request && request.offset < remembered.offset) if (!narrow()) return false;
    beginEarlier(remembered.offset);
    if (!request || requestText({ ...request, limit: remembered.limit }) !== text) return false;
    if (remembered.limit > pass.limit) pass.limit = remembered.limit;
    request = remembered;
    return true;
  }
}
