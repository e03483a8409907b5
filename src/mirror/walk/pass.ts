/** One pass over a list: the part of it that is covered, and how a page is joined to that. */
import { type PageRequest, parsePageRequest } from "../../resources/page-request.ts";
import { type CoveredIds, createCoveredIds } from "./covered-ids.ts";
import type { ParsedMeta } from "./page.ts";
import type { PassFacts } from "./verdicts.ts";

/** The facts about a page that the course needs. */
export type PageFacts = { meta: ParsedMeta; ids: readonly string[] };

/** One reading of the list from its start. */
export interface Pass extends PassFacts {
  limit: number;
  covered: CoveredIds;
  /** Up to this offset no anchor is needed: at the start of the list, or where no anchor is possible. */
  barrier: number;
  /** The last page that counted. */
  last: { offset: number; ids: readonly string[]; totalCount: number | null };
  /** The pages that wait for an anchor, the nearest one last. */
  waiting: { at: PageRequest; page: PageFacts }[];
}

/** @param hasShortPages whether an earlier pass had short pages */
export function createPass(limit: number, hasShortPages = false): Pass {
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
    startIsEnd: false,
    hasShortPages,
    fresh: 0,
    freshOld: 0,
    nameless: 0,
  };
}

/** The records that were asked for, or fewer where `meta.limit` or `next` says that the service sends fewer. */
export function saidLimit({ limit }: Pick<PageRequest, "limit">, meta: ParsedMeta): number {
  return Math.min(limit, meta.limit || limit, (meta.next && parsePageRequest(meta.next)?.limit) || limit);
}

/** Whether a page holds as many records as the service says that it sends. */
export function isFull(at: PageRequest, meta: ParsedMeta): boolean {
  return meta.count >= saidLimit(at, meta);
}

/** How a page was joined to the covered part. */
export interface Joint {
  /** Whether the page counts: it has an anchor, or needs none. Another page changes nothing. */
  isAnchored: boolean;
  /** Whether it has a record that the pass had not covered. */
  hasNews: boolean;
  /** Whether it has none, and ends with the record with which the page before ended. */
  isEcho: boolean;
}

/**
 * Adds a page to the covered part, if it has an anchor or needs none, as at a start. In a list that shows its
 * order the anchors must be in two groups, unless a single one has to do.
 */
export function joinPage(pass: Pass, at: PageRequest, page: PageFacts, needs: "none" | "one" | "two"): Joint {
  const { anchors, groups, isDisordered } = pass.covered.compare(page.ids, page.meta.ties);
  // A page with nothing new covers nothing, but as the last one it must show that no record of its date is missing.
  const isIdle = anchors === page.ids.length && page.meta.next !== null;
  const isShown = isIdle || (page.meta.showsOrder && (needs === "none" || groups > 1));
  const isWeak = needs === "two" && pass.showsOrder && page.meta.showsOrder && !isShown;
  if (needs !== "none" && (anchors === 0 || isWeak))
    return { isAnchored: false, hasNews: false, isEcho: false };
  if (isDisordered) pass.isProven = false;
  if (!isShown) pass.showsOrder = false;
  const isShort = !isFull(at, page.meta);
  const isLast = page.meta.next === null;
  if (isShort && !isLast) pass.hasShortPages = true;
  if (page.meta.count > page.ids.length) {
    // A record without an id can be no anchor.
    pass.nameless += page.meta.count - page.ids.length;
    goOnUnproven(pass, at.offset + page.meta.count);
  }
  // Records that came or went in front of the page shift its anchors, even when the count stays the same. A
  // page that was cut shows only some of them.
  const shown = isLast ? undefined : page.ids.length;
  const expected = pass.last.ids.slice(at.offset - pass.last.offset).slice(0, shown);
  if (needs !== "none" && !startsWith(page.ids, expected)) pass.isStill = false;
  const news = pass.covered.cover(page.ids);
  if (news > 0) pass.newsPages += 1;
  if (at.offset === 0) pass.startIsEnd = isShort && isLast;
  else if (news > 0) pass.startIsEnd = false;
  const isEcho = news === 0 && page.ids.at(-1) === pass.last.ids.at(-1);
  pass.last = { offset: at.offset, ids: page.ids, totalCount: page.meta.totalCount };
  return { isAnchored: true, hasNews: news > 0, isEcho };
}

/** Joins the nearest page that waits, if it has an anchor now. */
export function joinWaiting(pass: Pass) {
  const nearest = pass.waiting.at(-1);
  if (!nearest) return null;
  const joint = joinPage(pass, nearest.at, nearest.page, "one");
  if (!joint.isAnchored) return null;
  pass.waiting.pop();
  return { ...nearest, joint };
}

/** Lets the page at this offset count without an anchor. The pass is then no proof. */
export function goOnUnproven(pass: Pass, offset: number): void {
  pass.isProven = false;
  pass.barrier = offset;
}

function startsWith(ids: readonly string[], start: readonly string[]): boolean {
  return start.every((id, at) => ids[at] === id);
}
