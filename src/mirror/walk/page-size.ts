/**
 * The size of a list's pages, found from its replies. Where only few requests a second are allowed, larger
 * pages are the only way to be faster. Bytes are counted unpacked, because those cost memory and time here. Time is
 * that of the service alone: a busy machine of ours must not look like a slow service.
 *
 *   grows    when the first page shows that a larger one stays under four seconds, even if time grew as the records
 *            do, and under 4.5 megabytes: to that size, at most 1,000; by half at least, but in a first walk, where
 *            the next page may correct it. Later in a list, when eight pages in a row show it. Not for a week after
 *            it shrank.
 *   shrinks  to half, never below 100, after a page of more than six megabytes, after a page that failed, and after
 *            pages in a row of over five seconds, forty together; but a size that was only tried goes back to the one
 *            before. To what `meta.limit` or `next` says that the service sends; and, never below 100, to what
 *            came where three pages in a row had one and the same smaller count. It may grow again behind that.
 *   doubt    A last page whose own count says that more follows is read on 100 at a time. When nothing follows,
 *            the count is wrong, and the size stays as it was. Else the service stops too early at larger sizes.
 *   region   where a page failed, its records are read 100 at a time. When such a small page fails too, its
 *            records are at fault, and the size stays as it was.
 *
 * The first growth begins the list again, so that later walks, which begin with that size, find the same pages.
 */
import type { PageRequest } from "../../resources/page-request.ts";
import type { FetchedPage } from "./page.ts";
import { saidLimit } from "./pass.ts";

type Place = Pick<PageRequest, "limit" | "offset">;
export type SizedPage = Pick<FetchedPage, "meta" | "ids" | "bytes" | "tookMs" | "observedAt">;

/** The size at the start, and the smallest; the largest `limit` that such services allow. */
export const BASE_SIZE = 100;
export const LARGEST_SIZE = 1000;
const HEAVY_BYTES = 6 * 1024 * 1024;
const SLOW_MS = 5000;
/** Less than a heavy or slow page, because pages of a list differ. */
const AIM_BYTES = 0.75 * HEAVY_BYTES;
const AIM_MS = 0.8 * SLOW_MS;
/** A small difference is not worth it: pages at other places must be parsed again. */
const LEAST_GROWTH = 1.5;
/** Those that were in flight at the same moment may be an accident. A page that took twice too long counts twice. */
const IN_A_ROW = 8;
/** A page with a smaller share of its records is too short to judge larger pages by. */
const LEAST_FULL = 0.9;
/** One short page says nothing: a service may hide records of it. So many show a limit that it does not name. */
const SAME_COUNTS = 3;
const SHRUNK_FOR_MS = 7 * 86_400_000;
const NO_LIGHT_PAGES = { pages: 0, room: Number.POSITIVE_INFINITY };

export interface RememberedSize {
  size: number;
  shrunkAt: Date | null;
}

export interface PageSize {
  readonly size: number;
  readonly shrunkAt: Date | null;
  readonly remembered: RememberedSize | null;
  limitAt(offset: number): number;
  /** The end of the region at a place, null outside of it. */
  regionEnd(offset: number): number | null;
  /** Learns from a page. At the start of a walk one page is enough to grow. */
  learn(request: Place, page: SizedPage, isAtStart: boolean): void;
  /** Learns that a page failed. */
  fail(request: Place): void;
}

/** @param start of a list of which nothing is remembered */
export function createPageSize(remembered: RememberedSize | null, start = BASE_SIZE): PageSize {
  let size = Math.min(LARGEST_SIZE, Math.max(BASE_SIZE, remembered?.size ?? start));
  let shrunkAt = remembered?.shrunkAt ?? null;
  /** It shrank since the last page. The next page gives the time, because a failed one has none. */
  let isShrunk = false;
  let most = LARGEST_SIZE;
  let same = { count: 0, pages: 0 };
  /** A last page that its count contradicts. */
  let doubt: { lastId: string | undefined; end: number; before: RememberedSize } | null = null;
  let lastId: string | undefined;
  let served = remembered ? size : BASE_SIZE;
  /** The slow pages in a row, and the light ones with the least room among them. */
  let slow = 0;
  let light = NO_LIGHT_PAGES;
  let region: { from: number; end: number; before: RememberedSize } | null = null;

  function setSize(to: number): void {
    size = Math.min(most, Math.max(BASE_SIZE, Math.floor(to)));
    slow = 0;
    light = NO_LIGHT_PAGES;
  }

  function shrink(to: number): void {
    isShrunk = size > BASE_SIZE;
    setSize(to);
  }

  /** The size was not at fault. */
  function restore(before: RememberedSize): void {
    isShrunk = false;
    shrunkAt = before.shrunkAt;
    setSize(before.size);
  }

  function grow({ offset }: Place, { meta, observedAt }: SizedPage, isAtStart: boolean): void {
    const next = Math.min(most, Math.floor(size * light.room));
    const isWorth = next >= size * LEAST_GROWTH || (isAtStart && !remembered);
    if (!isWorth || meta.totalCount === null) return;
    if (shrunkAt && observedAt.getTime() - shrunkAt.getTime() < SHRUNK_FOR_MS) return;
    // At the start, this page is read again.
    const left = meta.totalCount - (isAtStart ? 0 : offset + size);
    if (Math.ceil(left / next) + (isAtStart ? 1 : 0) < Math.ceil(left / size)) setSize(next);
  }

  return {
    get size() {
      return size;
    },
    get shrunkAt() {
      return shrunkAt;
    },
    remembered,
    limitAt: (offset) => Math.min(size, regionAt(offset) ? BASE_SIZE : LARGEST_SIZE),
    regionEnd: (offset) => regionAt(offset)?.end ?? null,
    learn(request, page, isAtStart) {
      judge(request, page, isAtStart);
      lastId = page.ids.at(-1);
      if (isShrunk) shrunkAt = page.observedAt;
      isShrunk = false;
    },
    fail({ limit, offset }) {
      const failed = regionAt(offset);
      if (limit > BASE_SIZE) {
        region = { from: offset, end: offset + limit, before: { size, shrunkAt } };
        shrink(limit > served ? served : Math.min(size, limit / 2));
      } else if (failed) restore(failed.before);
    },
  };

  function judge(request: Place, page: SizedPage, isAtStart: boolean): void {
    const { meta, bytes, tookMs } = page;
    const { count } = meta;
    const isLast = meta.next === null;
    const end = request.offset + count;
    if (doubt && isLast) settleDoubt(doubt, end, page.ids.at(-1));
    // A narrowed page, or one that was asked for before the size changed.
    if (request.limit !== size) return;
    if (isLast) {
      // A page that ends as the one before is the one more that was asked for.
      const isEcho = count > 0 && page.ids.at(-1) === lastId;
      if (!isEcho && count < size && size > BASE_SIZE && end < (meta.totalCount ?? 0)) {
        doubt = { lastId: page.ids.at(-1), end, before: { size, shrunkAt } };
        shrink(BASE_SIZE);
      }
      return;
    }
    const before = size;
    judgeCount(count, saidLimit(request, meta));
    if (size !== before) return;
    if (count === size) served = Math.max(served, size);
    slow = tookMs > SLOW_MS ? slow + tookMs / SLOW_MS : 0;
    const room = Math.min(AIM_BYTES / Math.max(1, bytes), AIM_MS / Math.max(1, tookMs));
    const isFirst = isAtStart && !remembered;
    if (isFirst && room < 1) setSize(size * room);
    else if (bytes > HEAVY_BYTES || slow >= IN_A_ROW) shrink(size / 2);
    else if ((room < LEAST_GROWTH && !isFirst) || count < LEAST_FULL * size) light = NO_LIGHT_PAGES;
    else {
      light = { pages: light.pages + 1, room: Math.min(light.room, room) };
      if (isAtStart || light.pages >= IN_A_ROW) grow(request, page, isAtStart);
    }
  }

  function judgeCount(count: number, said: number): void {
    same = { count, pages: count === same.count ? same.pages + 1 : 1 };
    if (count >= size) return;
    if (said < size) {
      most = Math.max(1, said, count);
      shrink(most);
    } else if (same.pages >= SAME_COUNTS && count < LEAST_FULL * size) setSize(count);
  }

  /** When another last page ends as the doubtful one, that was the end. By the record, too: hidden ones move the place. */
  function settleDoubt(doubted: NonNullable<typeof doubt>, end: number, last: string | undefined): void {
    if (end <= doubted.end || (last !== undefined && last === doubted.lastId)) restore(doubted.before);
    doubt = null;
  }

  function regionAt(offset: number) {
    return region && offset >= region.from && offset < region.end ? region : null;
  }
}
