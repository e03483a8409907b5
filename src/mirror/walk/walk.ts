/** The walk reads all pages of a list. `course.ts` decides which comes next, and proves when it is whole. */

import { UpstreamError } from "../../base/errors.ts";
import { type PageRequest, requestText } from "../../resources/page-request.ts";
import type { Resource } from "../../resources/resources.ts";
import { fateOf, isRefusal } from "../api/fates.ts";
import type { Course, WalkOutcome } from "./course.ts";
import { createIdSet, type IdSet } from "./id-set.ts";
import type { FetchedPage, Hole, Page } from "./page.ts";
import type { PageSize } from "./page-size.ts";
import type { PageSource } from "./page-source.ts";
import { createSections, type Section } from "./sections.ts";

/** The retries of an enlarged page, and of a part of a page that failed, because the page has had its own. */
const NARROWED_RETRIES = 1;

interface WalkOptions {
  resource: Resource;
  course: Course;
  source: PageSource;
  /** Finds the size of the pages. @default the course's own, which stays */
  size?: PageSize | null;
  /** The pages of an earlier walk, around the place that this one has reached. @default none */
  earlier?(): readonly Section[];
  /** Finds the highest number that was an id before the walk began. Called when a second pass begins. */
  findHighestId?(): Promise<number | null>;
  seq?: number;
  /** The walk has rested, and its next page is so many places further by now (`Course.rest`). @default it has not rested */
  shift?: number;
  /** It rests with the outcome `head` when it has read so many records, behind a page that counts. @default to the end */
  most?: number;
  signal?: AbortSignal;
}

export interface Walk {
  /** The pages in the order of reading. Throws the errors of the source. */
  pages(): AsyncGenerator<Page, WalkOutcome>;
  /** Ends the walk after the current page, or after the next one that counts. Its outcome is `head`. */
  stop(): void;
  readonly seen: IdSet;
  /** The records that it has read since it rested: in a first pass those that are new to it. */
  readonly read: number;
  /** The first record of each date of a page behind which all was read without a gap since the walk rested. None: [] */
  readonly first: readonly string[];
}

export function createWalk(options: WalkOptions): Walk {
  const { resource, course, source, signal, shift, most = Number.POSITIVE_INFINITY } = options;
  const seenBefore = course.seen.size;
  const readAgain = createIdSet();
  const readSize = () => (course.passes === 1 ? course.seen.size - seenBefore : readAgain.size);
  const chain = createChain(course);
  // A later pass reads at other places and has a size of its own, for the sake of the proof.
  const sections = createSections(() => (course.passes === 1 ? (options.earlier?.() ?? []) : []));
  const sizing = () => (course.passes === 1 ? options.size : null);
  let isStopped = false;
  let tried: FetchedPage | null = null;
  let isHighestIdKnown = false;
  /** A page asked for ahead counts as the largest so far. */
  let recordBytes = 0;

  async function knowHighestId(): Promise<void> {
    if (course.passes === 1 || isHighestIdKnown || !options.findHighestId) return;
    isHighestIdKnown = true;
    const id = await options.findHighestId();
    if (id !== null) course.knowHighestId(id);
  }

  async function* pages(): AsyncGenerator<Page, WalkOutcome> {
    try {
      const size = sizing();
      if (size && course.isAtStart) course.resize(size.size);
      if (shift !== undefined) course.rest(shift);
      for (let seq = options.seq ?? 0; course.request !== null; seq++) {
        signal?.throwIfAborted();
        await knowHighestId();
        const { page, holes } = await fetchFirst();
        const { request: at, shift: moved } = course;
        course.read(page);
        tried = null;
        const isEven = fitSize(at);
        if (isEven) goOnFrom(at, page);
        const { request, isAnchored } = course;
        const following = request && requestText(request);
        if (course.passes > 1 && Number.isFinite(most)) for (const id of page.ids) readAgain.add(id);
        if (isAnchored) chain.add(page);
        const meta = moved === null ? page.meta : { ...page.meta, shift: moved };
        yield { ...page, meta, seq, resource, holes, isAnchored, following };
        // Behind a hole a page would need no anchor.
        const mayRest = isAnchored && holes.length === 0 && page.meta.totalCount !== null;
        if (request && ((isStopped && isAnchored) || (readSize() >= most && mayRest))) {
          const { totalCount } = page.meta;
          return { walk: "head", reason: null, totalCount, records: course.seen.size };
        }
      }
      if (!course.outcome) throw new Error("a walk without a request must have an outcome");
      return isStopped ? { ...course.outcome, walk: "head", reason: null } : course.outcome;
    } finally {
      source.close();
    }
  }

  /** Begins the next request where a section of the walk before does, and asks for the pages behind it ahead. */
  function goOnFrom(at: PageRequest, page: FetchedPage): void {
    const { step, request } = course;
    if (!request || step === 0) return;
    const { pending, lookAhead } = source;
    const way = { at, next: request.offset, step, pending, count: Math.max(1, lookAhead) };
    const offsets = sections.behind(page, way);
    course.beginEarlier(offsets[0] ?? request.offset);
    const end = sizing()?.regionEnd(request.offset) ?? Number.POSITIVE_INFINITY;
    const last = Math.min(end, page.meta.totalCount ?? 0, request.offset + most - readSize());
    const likely = offsets.filter((offset) => offset < last);
    recordBytes = Math.max(recordBytes, page.bytes / at.limit);
    source.askAhead(likely, request, recordBytes * request.limit, retriesFor(course));
  }

  /** Fetches the next page. The first page of a list is asked for again as long as its size grows. */
  async function fetchFirst(): Promise<{ page: FetchedPage; holes: Hole[] }> {
    for (;;) {
      const fetched = await fetchRenderable();
      const size = sizing();
      if (!size || !course.request) return fetched;
      const { page } = fetched;
      const { isAtStart } = course;
      const before = size.size;
      size.learn(course.request, page, isAtStart);
      if (!isAtStart || size.size <= before) return fetched;
      tried = page;
      course.resize(size.size);
    }
  }

  /** Brings the next request to the size that fits, when no page asked for ahead is left. True where it is as large as `at`. */
  function fitSize(at: PageRequest): boolean {
    const { request } = course;
    const size = sizing();
    if (!request) return false;
    const limit = size ? size.limitAt(request.offset) : course.limit;
    if (limit !== course.limit && source.pending.length === 0) course.resize(limit);
    return at.limit === course.request?.limit && at.limit === limit;
  }

  /** Fetches the next page, or as much of it as the service can render. */
  async function fetchRenderable(): Promise<{ page: FetchedPage; holes: Hole[] }> {
    const holes: Hole[] = [];
    let retries = retriesFor(course);
    for (;;) {
      const { request, isEnlarged } = course;
      if (!request) throw new Error("the walk is at its end");
      try {
        if (tried?.request === requestText(request)) return { page: tried, holes };
        return { page: await source.take(request, retries), holes };
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof UpstreamError)) throw error;
        // A service that wants fewer requests does not mind large ones.
        if (!isRefusal(error)) sizing()?.fail(request);
        const about = fateOf(error)?.about;
        // Where the root still answers, the page itself is what cannot be answered.
        const mayBeSmaller =
          isEnlarged || about === "page" || (about === "service" && (await source.isServiceUp()));
        if (!mayBeSmaller || !course.narrow()) throw error;
        if (isEnlarged) {
          retries = undefined;
          continue;
        }
        retries = NARROWED_RETRIES;
        // The course steps back in front of one that it meets where it only guesses its place.
        if (request.limit === 1 && (course.request?.offset ?? 0) > request.offset)
          holes.push({ offset: request.offset, request: requestText(request), reason: error.message });
      }
    }
  }

  return {
    pages,
    stop() {
      isStopped = true;
    },
    seen: course.seen,
    get read() {
      return readSize();
    },
    get first() {
      return chain.first;
    },
  };
}

/** Follows the pages that count since a walk rested, to find the first one behind which there is no gap. */
function createChain(course: Pick<Course, "endsWith">) {
  let first: readonly string[] = [];
  let begin: readonly string[] = [];
  let before: ReadonlySet<string> = new Set();
  return {
    /** A page that does not share two dates with the page before may follow what was covered before the rest alone. */
    add({ ids, meta: { count, ties } }: FetchedPage): void {
      const dates = count === ids.length ? ids.filter((_, place) => !ties?.includes(place)) : [];
      if (begin.length === 0 || dates.filter((id) => before.has(id)).length < 2) [begin, first] = [dates, []];
      if (course.endsWith(ids.at(-1))) first = begin;
      before = new Set(ids);
    },
    get first() {
      return first;
    },
  };
}

/** The retries of the next request; undefined leaves it to the client. */
const retriesFor = ({ isEnlarged }: Course) => (isEnlarged ? NARROWED_RETRIES : undefined);
