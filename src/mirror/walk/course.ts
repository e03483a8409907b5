/**
 * The course of a walk: what to ask for next, and whether the whole list was seen. After each page it follows the table in
 * `verdicts.ts`, and goes from state to state by the table in `moves.ts`.
 *
 *   starting ──page──▶ reading ──page──▶ reading … ──a row of proof──▶ ended: whole
 *      ▲  ▲               │ ▲                │  └─nothing new, a limit, a fault, a hole──▶ ended: not whole
 *      │  └─hole──────────┤ └─an anchor──────┼─────────────┐
 *      │                  └─no anchor──▶ stepping back, twice as far each time
 *      └──── next pass, with larger pages ───┘
 *
 * The proof. Assume a fixed order: when record A is before record B in one reply, it is so in every reply with both. Then a reply is a section of the list
 * without gaps, as the list was at one moment. The records that the pass has read are covered. The claim: every record that exists during the whole walk,
 * and is before the end of the covered part, is covered. It is true for the first page, which begins at the start of the list. Each later request begins
 * some records before the end of the covered part, and its page counts only when it holds an anchor: a record that is covered already. From the anchor to
 * its end the page has no gap, and before the anchor nothing is missing. So the claim is still true with this page added, no matter what was inserted or
 * deleted in between, in which order the pages were requested, and how many records each of them asked for. A page without an anchor proves nothing: it
 * waits, and the course steps back, twice as far each time, at worst to the start. When a page from further back has closed the gap, it finds its anchor.
 *
 * Where the list shows its order by dates that never change, records with equal dates are a group, and may come in any order. Let e be the last date that is
 * covered; the claim then is for records with later dates than e. The next page needs anchors in two groups. The first of them is later than the second, and
 * so later than e. All records between its date and the last date of the page are on the page: the claim holds for that date. At the end no group is cut.
 * Where all anchors of a border share one date, the page is asked for once more, further back, and then the order is not shown.
 *
 * Any other order is only believed, until anchors come in another one. `docs/internals/reliability.md` says how the end of a
 * list is shown, and what a second reading proves.
 *
 * A page that the service cannot render, or that is too large, is requested in halves, down to the record at fault, which is left out as a hole. Everything
 * here follows from the pages alone, so reading the remembered pages again restores an interrupted walk.
 */
import {
  firstRequest,
  type PageRequest,
  parsePageRequest,
  readNext,
  requestText,
} from "../../resources/page-request.ts";
import type { Resource } from "../../resources/resources.ts";
import type { IdSet } from "./id-set.ts";
import { moveOn, type StateName, type WalkEvent } from "./moves.ts";
import { LARGEST_SIZE } from "./page-size.ts";
import {
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
import { createSightings } from "./sightings.ts";
import { type VerdictName, verdictOn, type WalkFacts } from "./verdicts.ts";

const LIMIT_GROWTH = 10;
/** An overlap needs two records. */
const LEAST_SIZE = 2;

export interface CourseOptions {
  resource: Resource;
  listPath: string;
  /** The `limit` of the first pass, and of what an enlarged page is narrowed to. At least 2. */
  pageSize: number;
  isListPath(path: string): boolean;
}

export interface WalkOutcome {
  walk: "whole" | "not_whole" | "head";
  reason: string | null;
  totalCount: number | null;
  records: number;
}

/** Says what to ask for next, page by page. Everything follows from the pages, so the same pages lead to the same course. */
export interface Course {
  /** See `moves.ts`. */
  readonly state: StateName;
  /** The next request; null at the end of the walk. */
  readonly request: PageRequest | null;
  /** Null before the end. */
  readonly outcome: WalkOutcome | null;
  /** The name of the row that the last page met; null before the first page. */
  readonly verdict: VerdictName | null;
  /** True where the last page counted. */
  readonly isAnchored: boolean;
  /** The longest distance from the page just read to the next one; 0 when the next one does not follow it. */
  readonly step: number;
  /** True where `request` is larger than the set size (`pageSize`), which may be why it fails. */
  readonly isEnlarged: boolean;
  /** The distance that the place of `request` moved by guesses since the last page; null where it follows that page. */
  readonly shift: number | null;
  /** The `limit` that this pass aims for. A narrowed request has a smaller one. */
  readonly limit: number;
  /** The passes so far, with the one under way. */
  readonly passes: number;
  /** The records that the last page that counted counts behind its end. Below 0 where it counts fewer than it shows. */
  readonly beyond: number;
  /** True where a page of the walk was not full and had a next one: then nothing says how many records the list leaves out. */
  readonly hasShortPages: boolean;
  /** True before the first page. */
  readonly isAtStart: boolean;
  /** The distinct ids of all pages. */
  readonly seen: IdSet;
  /** The places that records fill a second time on one page, and that the service therefore counts twice. */
  readonly repeated: number;
  /** True where this pass has covered a record. One of a page without an anchor is seen, and not covered. */
  covers(id: string): boolean;
  /** True where this pass has covered it, and nothing behind it. */
  endsWith(id: string | undefined): boolean;
  /** Takes the highest number that was an id before the walk. Without it no id that is new to a second pass is that of a new record. */
  knowHighestId(id: number): void;
  /** Reads the page of `request`. Throws at the end of the walk. */
  read(page: PageFacts): void;
  /** Makes a request smaller whose page cannot be rendered. False when none is left: the whole list is at fault. */
  narrow(): boolean;
  /** Changes the `limit` from the next request on, in the first pass alone. A request that is narrowed grows to it again. */
  resize(limit: number): void;
  /** Begins the next request earlier, in the first pass alone: it reads more of the page before again, which is as good a proof. */
  beginEarlier(offset: number): void;
  /**
   * The list has so many records more in front than when `request` was made, as the counts say: a walk that has rested goes on
   * where its records are by now. That is a guess; only an anchor proves the place, else the course steps back.
   */
  rest(by: number): void;
  /** Reads a remembered page, with any `limit`. False when it does not fit here; then do not use this course any more. */
  replay(page: PageFacts & { request: string }): boolean;
  /** Sets the next request to the remembered one, after `replay`. False when it does not fit here. */
  resumeAt(text: string): boolean;
}

/** The request that a walk waits for. */
type Asking =
  | { name: "starting" | "reading"; request: PageRequest; step: number }
  /** `distance`: how far it stepped back the last time. */
  | { name: "stepping back" | "guessing"; request: PageRequest; distance: number };

type State = Asking | { name: "ended"; request: null; outcome: WalkOutcome };

export function createCourse(options: CourseOptions): Course {
  const { resource, listPath, isListPath } = options;
  const pageSize = Math.max(LEAST_SIZE, options.pageSize);
  const met = createSightings();
  let pass: Pass = createPass(pageSize);
  let state: State = { name: "starting", request: firstRequest(listPath, pageSize), step: 0 };
  let verdict: VerdictName | null = null;
  let isAnchored = true;
  let shift: number | null = null;

  /** Where no anchor is possible the walk starts, whatever led there. */
  function ask(next: Asking): void {
    const { request } = next;
    const isStart = request.offset <= pass.barrier;
    state = isStart ? { name: "starting", request, step: "step" in next ? next.step : 0 } : next;
  }

  /** Asks for more or fewer records, or for some in front of them too. */
  function askFor(change: Partial<PageRequest>): void {
    if (state.request) state = { ...state, request: { ...state.request, ...change } };
  }

  function awaited(): PageRequest {
    if (!state.request) throw new Error("the walk is at its end");
    return state.request;
  }

  const isEnlarged = () => state.request !== null && state.request.limit > pageSize;

  const moveFrom = (on: WalkEvent) =>
    moveOn(on, state.name, {
      limit: awaited().limit,
      isEnlarged: isEnlarged(),
      adjacentHoles: met.adjacentHoles,
    });

  function read(page: PageFacts): void {
    const at = awaited();
    const { fresh, freshOld } = met.meet(page);
    pass.fresh += fresh;
    pass.freshOld += freshOld;
    pass.pages += 1;
    const joint = joinPage(pass, at, page, needed());
    isAnchored = joint.isAnchored;
    shift = null;
    if (joint.hasNews) pass.isRepeated = false;
    follow(at, page, joint);
  }

  /** One step back costs less than a second reading of the list. At each border there is only one. */
  function needed(): "none" | "one" | "two" {
    if (state.name === "starting") return "none";
    return "distance" in state && state.distance > 0 ? "one" : "two";
  }

  function follow(at: PageRequest, page: PageFacts, joint: Joint): void {
    const facts = factsOf(at, page, joint);
    const row = verdictOn(facts);
    const move = moveFrom(row.outcome);
    verdict = row.name;
    switch (move.does) {
      case "ends": {
        const reason = row.outcome === "not_whole" ? row.reason(facts) : null;
        const why = reason && `${resource} list: ${requestText(at)}: ${reason}`;
        const walk = reason === null ? "whole" : "not_whole";
        const { totalCount, seen } = met;
        state = {
          name: move.to,
          request: null,
          outcome: { walk, reason: why, totalCount, records: seen.size },
        };
        break;
      }
      case "begins the next pass":
        beginPass(row.outcome === "read_again" ? facts.provenPasses : pass.provenBefore);
        break;
      case "steps back":
        stepBack(move.to, at, page);
        break;
      case "goes on": {
        const joined = joinWaiting(pass);
        if (joined) follow(joined.at, joined.page, joined.joint);
        else goOn(facts, page);
      }
    }
  }

  function factsOf(at: PageRequest, { meta }: PageFacts, { isEcho }: Joint): WalkFacts {
    return {
      ...met,
      ...pass,
      at,
      count: meta.count,
      countedTo: meta.totalCount,
      isFull: isFull(at, meta),
      isEcho,
      next: readNext(meta.next, at, isListPath),
      isAnchored,
      hasUnanchored: pass.barrier > 0,
      canGrow: pass.limit < LARGEST_SIZE,
      covered: pass.covered.size,
      passes: pass.number,
      provenPasses: pass.isProven ? pass.provenBefore + 1 : 0,
      seen: met.seen.size,
      badTotal: meta.badTotal ?? "none",
    };
  }

  function beginPass(provenBefore: number): void {
    const limit = Math.max(pass.limit, Math.min(LARGEST_SIZE, pass.limit * LIMIT_GROWTH));
    met.highest.beginPass();
    pass = createPass(limit, { ...pass, provenBefore });
    ask({ name: "starting", request: firstRequest(listPath, limit), step: 0 });
  }

  function stepBack(name: "stepping back" | "guessing", at: PageRequest, page: PageFacts): void {
    pass.hasGaps = true;
    if (page.ids.length > 0) pass.waiting.push({ at, page });
    const gone = Math.max(0, (pass.last.totalCount ?? 0) - (page.meta.totalCount ?? 0));
    const before = "distance" in state ? state.distance : 0;
    const distance = Math.max(overlapOf(at.limit) + Math.min(gone, at.limit), before * 2);
    ask({ name, request: { ...at, offset: Math.max(pass.barrier, at.offset - distance) }, distance });
  }

  function goOn({ at, next }: WalkFacts, page: PageFacts): void {
    const { limit: aim, isRepeated } = pass;
    const shiftAt = pass.number > 1 && pass.pages === 1 ? pass.servedBefore : 0;
    const following = requestBehind({ at, page, next, aim, shiftAt, isRepeated });
    const { behind, limit, offset } = following;
    pass.served = following.served;
    pass.limit = Math.min(pass.limit, following.aim);
    pass.isRepeated ||= following.isSingle;
    // A page of one record leaves no room for an anchor.
    if (following.isUnanchored) goOnUnproven(pass, behind);
    const request = { ...at, limit, offset: Math.max(Math.min(pass.barrier, behind), offset) };
    pass.waiting = pass.waiting.filter((waiting) => waiting.at.offset > request.offset);
    ask({ name: "reading", request, step: request.offset - at.offset });
  }

  /** `moved`: by how much the last page is further by now. */
  function guess(offset: number, moved: number): void {
    if (!state.request) return;
    pass.last = { ...pass.last, offset: pass.last.offset + moved };
    pass.waiting = [];
    pass.barrier = 0;
    shift = (shift ?? 0) + moved;
    const request = { ...state.request, limit: pass.limit, offset: Math.max(0, offset) };
    ask({ name: "guessing", request, distance: 0 });
  }

  function narrow(): boolean {
    const { limit, offset } = awaited();
    switch (moveFrom("not_rendered").does) {
      case "takes the set size":
        pass.limit = pageSize;
        askFor({ limit: pageSize });
        return true;
      case "halves the request":
        askFor({ limit: Math.floor(limit / 2) });
        return true;
      case "looks further in front":
        guess(offset - pass.limit, 0);
        return true;
      case "leaves a hole":
        met.leaveHole(offset);
        goOnUnproven(pass, offset + 1);
        ask({ name: "starting", request: { ...awaited(), offset: offset + 1 }, step: 0 });
        return true;
      default:
        return false;
    }
  }

  function beginEarlier(offset: number): void {
    if (!state.request || pass.number > 1 || !("step" in state)) return;
    const from = Math.max(pass.barrier, state.request.offset - state.step);
    if (offset > from && offset < state.request.offset) askFor({ offset });
  }

  function resumeAt(text: string): boolean {
    const remembered = parsePageRequest(text);
    if (!remembered || remembered.limit < 1) return false;
    // Further on means that the records before it were holes.
    while (state.request && state.request.offset < remembered.offset) if (!narrow()) return false;
    beginEarlier(remembered.offset);
    if (!state.request || requestText({ ...state.request, limit: remembered.limit }) !== text) return false;
    pass.limit = Math.max(pass.limit, remembered.limit);
    askFor(remembered);
    return true;
  }

  return {
    get state() {
      return state.name;
    },
    get request() {
      return state.request;
    },
    get outcome() {
      return state.name === "ended" ? state.outcome : null;
    },
    get verdict() {
      return verdict;
    },
    get isAnchored() {
      return isAnchored;
    },
    get step() {
      return "step" in state ? state.step : 0;
    },
    get isEnlarged() {
      return isEnlarged();
    },
    get shift() {
      return shift;
    },
    get limit() {
      return pass.limit;
    },
    get passes() {
      return pass.number;
    },
    get beyond() {
      const { offset, ids, totalCount } = pass.last;
      return (totalCount ?? 0) - offset - ids.length;
    },
    get hasShortPages() {
      return pass.hasShortPages;
    },
    get isAtStart() {
      return verdict === null && state.request?.offset === 0;
    },
    seen: met.seen,
    get repeated() {
      return met.repeated;
    },
    covers: (id) => pass.covered.has(id),
    endsWith: (id) => pass.covered.endsWith(id),
    knowHighestId: met.highest.know,
    read,
    narrow,
    resize(limit) {
      if (!state.request || pass.number > 1) return;
      const isNarrowed = state.request.limit < pass.limit;
      pass.limit = Math.max(LEAST_SIZE, limit);
      if (!isNarrowed || state.request.limit > pass.limit) askFor({ limit: pass.limit });
    },
    beginEarlier,
    rest(by) {
      if (state.request && state.request.offset > 0)
        guess(state.request.offset + by, Math.max(-state.request.offset, by));
    },
    replay(page) {
      const { shift: moved } = page.meta;
      if (moved !== undefined) guess(parsePageRequest(page.request)?.offset ?? 0, moved);
      if (!resumeAt(page.request)) return false;
      read(page);
      return true;
    },
    resumeAt,
  };
}
