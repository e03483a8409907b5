/** One pass over a list: the part of it that is covered, and how a page is joined to that. */
import type { PageRequest } from "../wire/page-request.ts";
import { type CoveredIds, createCoveredIds } from "./covered-ids.ts";
import type { PageMeta } from "./page.ts";
import type { PassFacts } from "./verdicts.ts";

/** The facts about a page that the course needs. */
export interface PageFacts {
  meta: PageMeta;
  /** The ids on the page in its order; records without one are left out. */
  ids: readonly string[];
}

/** A page that was read and has no anchor yet. */
export interface WaitingPage {
  at: PageRequest;
  page: PageFacts;
}

/** One reading of the list from its start. */
export interface Pass extends PassFacts {
  limit: number;
  covered: CoveredIds;
  /** Up to this offset no anchor is needed: at the start of the list, or where no anchor is possible. */
  barrier: number;
  /** The last page that counted. */
  last: { offset: number; ids: readonly string[]; totalCount: number | null };
  /** The pages that wait for an anchor, the nearest one last. */
  waiting: WaitingPage[];
}

export function createPass(limit: number): Pass {
  return {
    limit,
    covered: createCoveredIds(),
    barrier: 0,
    last: { offset: 0, ids: [], totalCount: null },
    waiting: [],
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
}

/** Adds a page to the covered part. False when it has no anchor and needs one, as all but the start do. */
export function joinPage(pass: Pass, at: PageRequest, page: PageFacts, isStart: boolean): boolean {
  const { anchors, isDisordered } = pass.covered.compare(page.ids);
  if (!isStart && anchors === 0) return false;
  if (isDisordered) pass.isProven = false;
  if (!page.meta.showsOrder || (!isStart && anchors < 2)) pass.showsOrder = false;
  if (page.meta.count > page.ids.length) {
    // A record without an id can be no anchor.
    pass.nameless += page.meta.count - page.ids.length;
    goOnUnproven(pass, at.offset + page.meta.count);
  }
  // Records that came or went in front of the page shift its anchors, even when the count stays the same.
  if (!isStart && !startsWith(page.ids, pass.last.ids.slice(at.offset - pass.last.offset)))
    pass.isStill = false;
  if (pass.covered.cover(page.ids) > 0) pass.newsPages += 1;
  pass.last = { offset: at.offset, ids: page.ids, totalCount: page.meta.totalCount };
  return true;
}

/** Joins the nearest page that waits, if it has an anchor now. */
export function joinWaiting(pass: Pass): WaitingPage | null {
  const nearest = pass.waiting.at(-1);
  if (!nearest || !joinPage(pass, nearest.at, nearest.page, false)) return null;
  pass.waiting.pop();
  return nearest;
}

/** Lets the page at this offset count without an anchor. The pass is then no proof. */
export function goOnUnproven(pass: Pass, offset: number): void {
  pass.isProven = false;
  pass.barrier = offset;
}

function startsWith(ids: readonly string[], start: readonly string[]): boolean {
  return start.every((id, at) => ids[at] === id);
}
