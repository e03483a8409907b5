/**
 * The course of a walk: what to ask for next, and whether the whole list was seen, by the table in `verdicts.ts`.
 *
 *   pass ──page──▶ page … ──next is null──▶ end of the pass ──a row of proof──▶ whole
 *     ▲   no anchor: step back                   │  └─nothing new, a limit, a fault, a hole──▶ not_whole
 *     └──── again, with larger pages ────────────┘
 *
 * The proof. Assume a fixed order: when record A is before record B in one reply, it is so in every reply with both. Then a
 * reply is a section of the list without gaps, as the list was at one moment. The records that the pass has read are
 * covered. The claim: every record that exists during the whole walk, and is before the end of the covered part, is
 * covered. It is true for the first page, which begins at the start of the list. Each later request begins some records
 * before the end of the covered part, and its page counts only when it holds an anchor: a record that is covered already.
 * From the anchor to its end the page has no gap, and before the anchor nothing is missing. So the claim is still true with
 * this page added, no matter what was inserted or deleted in between, in which order the pages were requested, and how many
 * records each of them asked for. A page without an anchor proves nothing: it waits, and the course steps back, twice as far
 * each time, at worst to the start. When a page from further back has closed the gap, it finds its anchor.
 *
 * Where the list shows its order by dates that never change, records with equal dates are a group, and may come in any
 * order. Let e be the last date that is covered; the claim then is for records with later dates than e. The next page needs
 * anchors in two groups. The first of them is later than the second, and so later than e. All records between its date and
 * the last date of the page are on the page: the claim holds for that date. At the end no group is cut. Where all anchors of
 * a border share one date, the page is asked for once more, further back, and then the order is not shown.
 *
 * Any other order is only believed, until anchors come in another one. `docs/internals/reliability.md` says how the end of a
 * list is shown, and what a second reading proves.
 *
 * A page that the service cannot render, or that is too large, is requested in halves, down to the record at fault, which
 * is left out as a hole. Everything here follows from the pages alone, so reading the remembered pages again restores an
 * interrupted walk.
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

export interface CourseOptions {
  resource: Resource;
  listPath: string;
  /** The `limit` of the first pass, and of what an enlarged page is narrowed to. At least 2. */
  pageSize: number;
  isListPath(path: string): boolean;
  /** Only the test of the proof switches this off. @default true */
  isOverlapping?: boolean;
}

export interface WalkOutcome {
  walk: "whole" | "not_whole" | "head";
  reason: string | null;
  totalCount: number | null;
  records: number;
}

export type Course = ReturnType<typeof createCourse>;

export function createCourse(options: CourseOptions) {
  const { resource, isOverlapping = true } = options;
  const highest = createHighestIds();
  const seen = createIdSet();
  const repeated = createIdSet();
  let passes = 0;
  let provenPasses = 0;
  let totalCount: number | null = null;
  let hasMoved = false;
  const holes: number[] = [];
  let holeCount = 0;
  let adjacentHoles = 0;
  let pass: Pass = createPass(options.pageSize);
  let request: PageRequest | null;
  let outcome: WalkOutcome | null = null;
  let verdict: VerdictName | null = null;
  /** The limit that the latest page was served with, and the last one of the previous pass. */
  let served = 0;
  let servedBefore = 0;
  let stepBack = 0;
  /** Whether the part in front of a cut page was asked for again, and nothing new has come since. */
  let isRepeated = false;
  let step = 0;
  let isAnchored = true;
  /** How far `request` moved by a guess, and whether no page behind the last guess has counted yet. */
  let shift: number | null = null;
  let isUnsure = false;
  /** An overlap needs two records. */
  const atLeastTwo = (limit: number) => (isOverlapping ? Math.max(2, limit) : limit);
  const pageSize = atLeastTwo(options.pageSize);
  beginPass(pageSize);

  function beginPass(limit: number): void {
    passes += 1;
    servedBefore = served;
    highest.beginPass();
    pass = createPass(limit, pass.hasShortPages);
    [stepBack, step, isUnsure] = [0, 0, false];
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
    if (totalCount !== null && page.meta.totalCount !== totalCount) hasMoved = true;
    // Some services count for the first page alone.
    totalCount = page.meta.totalCount ?? totalCount;
    for (const id of page.ids.filter(seen.add)) {
      pass.fresh += 1;
      if (!highest.isNewer(id)) pass.freshOld += 1;
      highest.take(id);
    }
    const onPage = new Set<string>();
    for (const id of page.ids) {
      if (onPage.has(id)) repeated.add(id);
      onPage.add(id);
    }
    pass.pages += 1;
    const isStart = at.offset <= pass.barrier || !isOverlapping;
    // One step back costs less than a second reading of the list. At each border there is only one.
    const joint = joinPage(pass, at, page, isStart ? "none" : stepBack > 0 ? "one" : "two");
    isAnchored = joint.isAnchored;
    shift = null;
    if (isAnchored) [stepBack, isUnsure] = [0, false];
    if (joint.hasNews) isRepeated = false;
    followVerdict(at, page, joint);
  }

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
        else goOn(facts, page);
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
    const gone = Math.max(0, (pass.last.totalCount ?? 0) - (page.meta.totalCount ?? 0));
    stepBack = Math.max(overlap + Math.min(gone, at.limit), stepBack * 2);
    request = { ...at, offset: Math.max(pass.barrier, at.offset - stepBack) };
  }

  function goOn({ at, next }: WalkFacts, { meta, ids }: PageFacts): void {
    const nameless = meta.count - ids.length;
    const shiftAt = passes > 1 && pass.pages === 1 ? servedBefore : 0;
    const following = requestBehind({
      at,
      meta,
      nameless,
      next,
      aim: pass.limit,
      isOverlapping,
      shiftAt,
      isRepeated,
    });
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

  /** Changes the `limit` from the next request on, in the first pass alone. A request that is narrowed grows to it again. */
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

  /**
   * The list has so many records more in front than when `request` was made, as the counts say: a walk that has rested
   * goes on where its records are by now. That is a guess; only an anchor proves the place, else the course steps back.
   */
  function rest(by: number): void {
    if (request && request.offset > 0) guess(request.offset + by, Math.max(-request.offset, by));
  }

  /** `moved`: by how much the last page is further by now. */
  function guess(offset: number, moved: number): void {
    if (!request) return;
    pass.last = { ...pass.last, offset: pass.last.offset + moved };
    pass.waiting = [];
    pass.barrier = 0;
    stepBack = 0;
    request = { ...request, limit: pass.limit, offset: Math.max(0, offset) };
    shift = (shift ?? 0) + moved;
    isUnsure = request.offset > 0;
  }

  function beginNextPass(): void {
    beginPass(Math.max(pass.limit, Math.min(LARGEST_SIZE, pass.limit * LIMIT_GROWTH)));
  }

  /** Whether the size of `request` may be why it fails: it is larger than the one that was set. */
  const isEnlarged = () => request !== null && request.limit > pageSize;

  /** Makes a request smaller that cannot be rendered. False when none is left: the whole list is at fault. */
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
    if (isUnsure) {
      // Behind a hole no anchor is needed, which would take the guess for the place. So records in front of it are read.
      guess(request.offset - pass.limit, 0);
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
    get outcome() {
      return outcome;
    },
    /** Null before the first page. */
    get verdict() {
      return verdict;
    },
    /** The longest distance from the page just read to the next one; 0 when the next one does not follow it. */
    get step() {
      return step;
    },
    /** Whether the last page counted. */
    get isAnchored() {
      return isAnchored;
    },
    get isEnlarged() {
      return isEnlarged();
    },
    /** How far the place of `request` moved by a guess; null where it follows the page before. */
    get shift() {
      return shift;
    },
    /** The `limit` that this pass aims for. A narrowed request has a smaller one. */
    get limit() {
      return pass.limit;
    },
    get passes() {
      return passes;
    },
    /** How many records the last page counts behind its end. */
    get beyond() {
      const { offset, ids, totalCount } = pass.last;
      return Math.max(0, (totalCount ?? 0) - offset - ids.length);
    },
    get isAtStart() {
      return passes === 1 && pass.pages === 0 && request?.offset === 0;
    },
    seen,
    /** Those that one page shows twice, and that the service therefore counts twice. */
    repeated,
    /** Whether this pass has covered a record. One of a page without an anchor is seen, and not covered. */
    covers: (id: string) => pass.covered.has(id),
    /** Whether this pass has covered it, and nothing behind it. */
    endsWith: (id: string | undefined) => pass.covered.endsWith(id),
    /** Without it, no id that is new to the second pass counts as that of a new record. */
    knowHighestId: highest.know,
    resize,
    beginEarlier,
    rest,
    read,
    narrow,
    /** Takes a remembered page, with any `limit`. False when it does not fit here; then do not use this course any more. */
    replay(page: PageFacts & { request: string }): boolean {
      const { shift: moved } = page.meta;
      if (moved !== undefined) guess(parsePageRequest(page.request)?.offset ?? 0, moved);
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
