/** One pass over a list: the part of it that is covered, and how a page is joined to that. */

import { type PageRequest, parsePageRequest } from "../../resources/page-request.ts";
import { createIdSet } from "./id-set.ts";
import type { ParsedMeta } from "./page.ts";
import type { PassFacts } from "./verdicts.ts";

/** The number of latest records whose place is remembered, to check that records keep their order. */
const REMEMBERED = 4096;

/** A page as far as the proof needs it. */
export type PageFacts = { meta: ParsedMeta; ids: readonly string[] };

/** The records that one pass has covered, and the places of the latest ones. */
export interface CoveredIds {
  readonly size: number;
  has(id: string): boolean;
  /** True for the record behind all others. */
  endsWith(id: string | undefined): boolean;
  /**
   * Compares a page with what is covered, and adds nothing. `ties`: the places of records with the sort key of the one before.
   * `anchors`: its records that are covered; `groups`: the sort keys of these.
   */
  compare(
    ids: readonly string[],
    ties?: readonly number[],
  ): { anchors: number; groups: number; isDisordered: boolean };
  /** Adds the records of a page. Returns the number of new ones. */
  cover(ids: readonly string[]): number;
}

export function createCoveredIds(): CoveredIds {
  const covered = createIdSet();
  /** The places in the order of the list. The records that were read first come first. */
  const places = new Map<string, number>();
  let nextPlace = 0;

  /** Places new records after all others, or between their neighbours where they were added since. */
  function place(ids: readonly string[]): void {
    let waiting: string[] = [];
    let before: number | null = null;
    for (const id of ids) {
      const known = places.get(id);
      if (known === undefined) {
        waiting.push(id);
        continue;
      }
      const from = before !== null && before < known ? before : known - 1;
      for (const [index, added] of waiting.entries()) {
        places.set(added, from + ((known - from) * (index + 1)) / (waiting.length + 1));
      }
      waiting = [];
      before = known;
    }
    for (const added of waiting) places.set(added, nextPlace++);
  }

  return {
    compare(ids, ties = []) {
      const tied = new Set(ties);
      let anchors = 0;
      let groups = 0;
      let isCounted = false;
      /** The last place of the groups before, and of this one. */
      let before = Number.NEGATIVE_INFINITY;
      let last = Number.NEGATIVE_INFINITY;
      let isDisordered = false;
      for (const [index, id] of ids.entries()) {
        if (!tied.has(index)) {
          before = last;
          isCounted = false;
        }
        if (!covered.has(id)) continue;
        anchors += 1;
        if (!isCounted) groups += 1;
        isCounted = true;
        const at = places.get(id);
        if (at === undefined) continue;
        if (at < before) isDisordered = true;
        last = Math.max(last, at);
      }
      return { anchors, groups, isDisordered };
    },
    cover(ids) {
      place(ids);
      let added = 0;
      for (const id of ids) if (covered.add(id)) added += 1;
      for (const oldest of places.keys()) {
        if (places.size <= REMEMBERED) break;
        places.delete(oldest);
      }
      return added;
    },
    has: covered.has,
    endsWith: (id) => places.get(id ?? "") === nextPlace - 1,
    get size() {
      return covered.size;
    },
  };
}

export interface Pass extends PassFacts {
  /** 1 for the first one. */
  number: number;
  /** The proven passes in a row in front of it. */
  provenBefore: number;
  /** The `limit` that it aims for. */
  limit: number;
  covered: CoveredIds;
  /** Up to this offset no anchor is needed: at the start of the list, or where no anchor is possible. */
  barrier: number;
  /** The last page that counted. */
  last: { offset: number; ids: readonly string[]; totalCount: number | null };
  /** Pages without an anchor, until the gap in front of them is closed. */
  waiting: { at: PageRequest; page: PageFacts }[];
  /** The limit that the latest page was served with, and the last one of the pass before. */
  served: number;
  servedBefore: number;
  /** The part in front of a cut page was asked for again, and nothing new has come since. */
  isRepeated: boolean;
}

type EarlierPass = Pick<Pass, "number" | "provenBefore" | "served" | "hasShortPages">;
const NO_PASS: EarlierPass = { number: 0, provenBefore: 0, served: 0, hasShortPages: false };

/** @param before the pass in front of it, with the proven ones in a row that it ends */
export function createPass(limit: number, before = NO_PASS): Pass {
  return {
    number: before.number + 1,
    provenBefore: before.provenBefore,
    limit,
    covered: createCoveredIds(),
    barrier: 0,
    last: { offset: 0, ids: [], totalCount: null },
    waiting: [],
    served: before.served,
    servedBefore: before.served,
    isRepeated: false,
    pages: 0,
    newsPages: 0,
    isProven: true,
    showsOrder: true,
    isStill: true,
    hasGaps: false,
    startIsEnd: false,
    startRepeats: 0,
    hasShortPages: before.hasShortPages,
    fresh: 0,
    freshOld: 0,
    nameless: 0,
  };
}

/** The records that were asked for, or fewer where `meta.limit` or `next` says that the service sends fewer. */
export function saidLimit({ limit }: Pick<PageRequest, "limit">, meta: ParsedMeta): number {
  return Math.min(limit, meta.limit || limit, (meta.next && parsePageRequest(meta.next)?.limit) || limit);
}

/** True where a page holds as many records as the service says that it sends. */
export function isFull(at: PageRequest, meta: ParsedMeta): boolean {
  return meta.count >= saidLimit(at, meta);
}

/** The way in which a page joins what is covered. */
export interface Joint {
  /** It counts: it has the anchors that it needs. */
  isAnchored: boolean;
  hasNews: boolean;
  /** Nothing is new, and it ends as the page before. */
  isEcho: boolean;
}

/**
 * Adds a page to the covered part, if it has an anchor or needs none, as at a start. In a list that shows its order the
 * anchors must be in two groups, unless a single one has to do.
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
  // Records that came or went in front of the page shift its anchors, even when the count stays the same. A
  // page that was cut shows only some of them.
  const shown = isLast ? undefined : page.ids.length;
  const expected = pass.last.ids.slice(at.offset - pass.last.offset).slice(0, shown);
  if (needs !== "none" && expected.some((id, place) => page.ids[place] !== id)) pass.isStill = false;
  const news = pass.covered.cover(page.ids);
  if (news > 0) pass.newsPages += 1;
  if (page.meta.count > page.ids.length) {
    pass.nameless += page.meta.count - page.ids.length;
    pass.isProven = false;
    // A record without an id can be no anchor.
    if (2 * page.ids.length < page.meta.count) goOnUnproven(pass, at.offset + page.meta.count);
  }
  if (at.offset === 0) {
    pass.startIsEnd = isShort && isLast;
    pass.startRepeats = page.ids.length - new Set(page.ids).size;
  } else if (news > 0) pass.startIsEnd = false;
  const isEcho = news === 0 && page.ids.at(-1) === pass.last.ids.at(-1);
  pass.last = { offset: at.offset, ids: page.ids, totalCount: page.meta.totalCount };
  return { isAnchored: true, hasNews: news > 0, isEcho };
}

/** Adds the nearest page that waits, where it has found its anchor. Else null. */
export function joinWaiting(pass: Pass): { at: PageRequest; page: PageFacts; joint: Joint } | null {
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
