/** Single pages of the list of builds, below its head: each is stored, and says what lies between its dates. */
import { UpstreamError } from "../../base/errors.ts";
import { type PageRequest, parsePageRequest } from "../../resources/page-request.ts";
import type { WalkCounts } from "../../store/ledger/run-ledger.ts";
import { countShownIn } from "../load/live-count.ts";
import type { RunParts } from "../load/loader.ts";
import { findUnstoredDates } from "../load/quarantine.ts";
import { type Border, bisect, type DatedPage, type DateRange, shownWhole } from "../walk/bisection.ts";
import { datesOf, type FetchedPage } from "../walk/page.ts";
import { createPageSource, type PageSourceOptions } from "../walk/page-source.ts";
import { isFull } from "../walk/pass.ts";
import { forgetMissing, type UnshownBuilds } from "./missing-records.ts";
import { type SettlePagesOptions, settlePages } from "./settle-pages.ts";

/** A page that fails costs little: what it was to show is left to a full walk. */
const RETRIES = 1;

interface DatedPagesOptions
  extends Pick<SettlePagesOptions, "room" | "meters" | "onProgress" | "counts" | "seen">,
    Pick<PageSourceOptions, "lookAhead"> {
  /** The request for the first page of the list, with the size of a page. */
  first: PageRequest;
  /** The records that the service counts and never shows. */
  unshown: number;
  missing: UnshownBuilds;
}

interface DatedPages {
  /**
   * Reads a page, stores its builds, and notes those that are missing in the range that it shows whole. So many pages
   * behind it are asked for ahead (default none). Null for a page that cannot be judged, and once too many are
   * missing.
   */
  read(offset: number, limit: number, ahead?: number): Promise<DatedPage | null>;
  /** How many builds the list should show in each range: those that are stored, and those in quarantine. */
  count(ranges: readonly DateRange[]): Promise<number[]>;
}

/** Returns the result of `work` and the counts behind its pages, when all is stored. The result is null when the service fails. */
async function withDatedPages<T>(
  run: RunParts,
  options: DatedPagesOptions,
  work: (pages: DatedPages) => Promise<T>,
): Promise<{ result: T | null; counts: WalkCounts }> {
  const { client, patience, sql, signal, log } = run;
  const { first, unshown, missing, room, lookAhead, ...settling } = options;
  const source = createPageSource({ client, resource: "build", room, lookAhead, signal });
  const settled = settlePages(run, { ...settling, room, resource: "build", memory: null });
  const unstored = await patience("find the dates of builds in quarantine", () => findUnstoredDates(sql));
  const dates = unstored.flatMap((date) => datesOf([{ date }]) ?? []);
  let latest = Promise.resolve();

  async function settle(fetched: FetchedPage, page: DatedPage | null): Promise<void> {
    await settled.add({
      ...fetched,
      ...{ resource: "build", seq: 0, holes: [], isAnchored: true, following: null },
    });
    await patience("note builds that are there", () => forgetMissing(sql, "build", fetched.ids));
    const range = page && shownWhole(page);
    if (range) await missing.note(range, fetched.ids);
  }

  const pages: DatedPages = {
    async read(offset, limit, ahead = 0) {
      if (missing.held !== null) return null;
      const request = { ...first, offset, limit };
      const fetched = await source.take(request, RETRIES);
      const page = toDatedPage(fetched, unshown);
      const step = page ? behind(page) - offset : 0;
      if (ahead > 0 && step > 0) {
        const offsets = Array.from({ length: ahead }, (_, place) => offset + (place + 1) * step);
        source.askAhead(offsets, request, fetched.bytes, RETRIES);
      }
      // One after another: the counts of ranges follow from what is stored.
      latest = latest.then(() => settle(fetched, page));
      await latest;
      return page;
    },
    async count(ranges) {
      const shown = await patience("count builds by their dates", () => countShownIn(sql, ranges));
      return ranges.map(({ newest, oldest }, at) => {
        const hidden = dates.filter((date) => date <= newest && date >= (oldest ?? ""));
        return (shown[at] ?? 0) + hidden.length;
      });
    },
  };
  let result: T | null = null;
  try {
    result = await work(pages);
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    log.warn({ error: error.message, hint: error.hint }, "looking into the list of builds broke off");
  } finally {
    source.close();
    await settled.end();
  }
  return { result, counts: settled.counts };
}

/** The offset of a page that begins with another date than the last one of this page, and shows that date whole. */
function behind({ offset, dates }: DatedPage): number {
  return offset + Math.max(0, dates.indexOf(dates.at(-1) ?? "") - 1);
}

/** Null for a page that does not show its order, or not all of itself, or contradicts its count. */
export function toDatedPage({ request, meta, ids, records }: FetchedPage, unshown: number): DatedPage | null {
  const at = parsePageRequest(request);
  const dates = records && datesOf(records);
  const { totalCount, count } = meta;
  if (!at || !dates || totalCount === null || count !== ids.length) return null;
  const { offset } = at;
  const places = totalCount - unshown;
  const end = offset + count;
  if ((meta.offset ?? offset) !== offset || (count > 0 && end > places)) return null;
  // A full page shows no end, whatever `next` and the count say (`course.ts`).
  return { offset, places, dates, isEnd: meta.next === null && end === places && !isFull(at, meta) };
}

/** Searches the builds below the head for what came and went (`bisection.ts`): stores new ones, notes missing ones. */
export async function findDifferences(
  run: RunParts,
  /** `top`: the last border of the head; `budget`: the most requests. */
  { top, budget, ...options }: DatedPagesOptions & { top: Border; budget: number },
) {
  const { first, missing } = options;
  const { result, counts } = await withDatedPages(run, options, (pages) =>
    bisect(top, pages, { limit: first.limit, budget }),
  );
  const found = result ?? { requests: budget, isDone: false };
  const facts = { requests: found.requests, is_done: found.isDone, missing: missing.noted };
  run.log.info(facts, "searched the builds for differences");
  return { ...found, counts };
}
