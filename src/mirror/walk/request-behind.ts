import type { NextLink, PageRequest } from "../../resources/page-request.ts";
import { type ParsedMeta, tailOf } from "./page.ts";
import { BASE_SIZE } from "./page-size.ts";
import { isFull, type PageFacts, saidLimit } from "./pass.ts";

/** The next page reads one record in this many again: at least two, and never more than half a page. */
const OVERLAP_SHARE = 50;
/** Where a larger share of a page shares the last sort key, it is not read again. */
const MOST_TIED = 0.75;
/** The least limit of a page that looks for more behind one without a next. */
const LEAST_LIMIT = 8;

/** The request behind a page. It depends on the page alone, so that a replay needs no size of the next one. */
export function requestBehind(of: {
  at: PageRequest;
  page: PageFacts;
  next: NextLink;
  /** The limit that the pass aims for. */
  aim: number;
  /** When the page was served with this limit, half of it is read again, so that all borders are at other places. */
  shiftAt: number;
  isRepeated: boolean;
}) {
  const { at, next, aim, isRepeated } = of;
  const { meta, ids } = of.page;
  const { count } = meta;
  const isEnd = next.leads !== "on";
  const isWhole = isFull(at, meta);
  // A server that sent fewer records may have reduced the limit.
  const served = count < at.limit ? Math.max(count, saidLimit(at, meta)) : at.limit;
  const allowed = served < at.limit ? served : aim;
  let limit = at.limit < aim ? Math.min(allowed, served * 2) : served;
  // A large page may be what the service cuts.
  if (isEnd && !isWhole) limit = Math.min(limit, BASE_SIZE, Math.max(LEAST_LIMIT, limit >> 1));
  // Never beyond the records that came, so that a short page with a next one leaves no gap. Only the offset of
  // `next` is used: a filter in it would hide records.
  const behind = isEnd ? at.offset + count : Math.min(next.offset, at.offset + count);
  const wanted = served === of.shiftAt ? served >> 1 : overlapAfter(served, meta);
  // Records without an id may be the last ones, and are no anchors.
  const nameless = count - ids.length;
  const overlap = Math.min(wanted + nameless, behind - at.offset - 1);
  const isSingle = overlap === 0;
  // Where a page was cut to one record, there is room for anchors in front of it.
  const isStepping = isSingle && !isWhole && !isRepeated;
  return {
    limit,
    offset: behind - (isStepping ? 2 : overlap),
    /** The end of the page. */
    behind,
    /** The limit that the page was served with, and the one that the service allows, as far as this page says. */
    served,
    aim: allowed,
    /** The page has a single record; the next one can have no anchor. */
    isSingle,
    isUnanchored: isSingle && !isStepping,
  };
}

/** The number of records of a page that the next one reads again. */
export function overlapOf(limit: number): number {
  return Math.min(Math.max(2, Math.ceil(limit / OVERLAP_SHARE)), Math.floor(limit / 2));
}

/** They reach past the records that share the last sort key, unless so many do that the walk would hardly go on. */
function overlapAfter(limit: number, { count, showsOrder, ties }: ParsedMeta): number {
  const tail = showsOrder ? tailOf(count, ties) : 0;
  return Math.max(overlapOf(limit), ties && tail <= MOST_TIED * count ? tail + 1 : 0);
}
