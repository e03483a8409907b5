/** Single pages of the list of builds, below its head: each is stored, and says what lies between its dates. */
import { UpstreamError } from "../../base/errors.ts";
import { type PageRequest, parsePageRequest } from "../../resources/page-request.ts";
import type { ServiceGap } from "../../store/ledger/run-ledger.ts";
import { fateOf } from "../api/fates.ts";
import { countListed, countShownIn } from "../load/live-count.ts";
import { findUnstoredDates } from "../load/quarantine.ts";
import { type Border, bisect, type DatedPage, type DateRange, shownWhole } from "../walk/bisection.ts";
import { type FetchedPage, readDates, shownDates } from "../walk/page.ts";
import { createPageSource } from "../walk/page-source.ts";
import { isFull } from "../walk/pass.ts";
import { forgetMissing, type UnshownBuilds } from "./missing-records.ts";
import { findMovedDates } from "./moved-dates.ts";
import type { PagesEnd } from "./read-pages.ts";
import type { ListOptions, ListRun, SearchEnd } from "./reading.ts";
import { type SettlePagesOptions, settlePages } from "./settle-pages.ts";

/** A page that fails costs little: what it was to show is left to a full walk. */
const RETRIES = 1;
/** A smaller page may show nothing between its first and its last date. */
export const LEAST_SEARCHED = 4;

interface SearchOptions extends Pick<SettlePagesOptions, "counts" | "seen"> {
  /** The request for the first page of the list, with the size of a page. */
  first: PageRequest;
  /** The gap of the service that is known. */
  gap: ServiceGap;
  missing: UnshownBuilds;
  /** The last border of the head, and the ids above it. */
  top: Border;
  headIds: readonly string[];
  /** The most requests. */
  budget: number;
}

interface FoundDifferences extends SearchEnd, Pick<PagesEnd, "counts" | "oldestAt"> {
  /** The gap of the service, as the end of its list shows it; the known one where no page showed the end. */
  gap: ServiceGap;
}

/**
 * Searches the builds below the head for what came and went (`bisection.ts`): stores new ones, notes missing ones. Notes
 * none once the pages show other dates than are stored, because the ranges of stored dates then say nothing.
 */
export async function findDifferences(
  run: ListRun,
  list: ListOptions,
  { top, headIds, budget, first, gap, missing, counts, seen }: SearchOptions,
): Promise<FoundDifferences> {
  const { client, patience, sql, signal, log } = run;
  const source = createPageSource({ client, resource: "build", lookAhead: 0, signal });
  const settled = settlePages(run, list, { counts, seen, memory: null });
  const unstored = await patience("find the dates of builds in quarantine", () => findUnstoredDates(sql));
  const dates = unstored.flatMap((date) => readDates([{ date }], client) ?? []);
  let latest = Promise.resolve();
  let hasMoved = false;
  let requests = 0;
  /** The builds that were noted as missing. */
  let noted = 0;
  /** What the newest page with the end of the list has said. */
  let behind: number | null = null;
  let isDone = false;

  /** A page that cannot be rendered is asked for in part, as a walk does. Null where the least part cannot. */
  async function take(request: PageRequest): Promise<FetchedPage | null> {
    for (let { limit } = request; limit >= LEAST_SEARCHED; limit = Math.floor(limit / 2)) {
      requests += 1;
      try {
        return await source.take({ ...request, limit }, RETRIES);
      } catch (error) {
        if (fateOf(error)?.about !== "page") throw error;
      }
    }
    return null;
  }

  async function settle(fetched: FetchedPage, page: DatedPage | null): Promise<void> {
    behind = page?.behind ?? behind;
    const moved = await patience("compare dates", () => findMovedDates(sql, fetched));
    hasMoved ||= moved !== null;
    const alone = { seq: 0, holes: [], isAnchored: true, following: null };
    await settled.add({ ...fetched, ...alone, resource: "build" });
    await patience("note builds that are there", () => forgetMissing(sql, "build", fetched.ids));
    const range = page && shownWhole(page);
    if (range && !hasMoved) noted += await missing.note(range, fetched.ids);
  }

  const parts = {
    async read(offset: number, limit: number): Promise<DatedPage | null> {
      if (missing.held !== null || hasMoved) return null;
      const fetched = await take({ ...first, offset, limit });
      if (!fetched) return null;
      const page = toDatedPage(fetched, gap);
      // One after another: the counts of ranges follow from what is stored.
      latest = latest.then(() => settle(fetched, page));
      await latest;
      return hasMoved ? null : page;
    },
    /** The builds that the list should show in each range: those that are stored, and those in quarantine. */
    async count(ranges: readonly DateRange[]): Promise<number[]> {
      const stored = await patience("count builds by their dates", () => countShownIn(sql, ranges));
      return ranges.map(({ newest, oldest }, at) => {
        const kept = dates.filter((date) => date <= newest && date >= (oldest ?? ""));
        return (stored[at] ?? 0) + kept.length;
      });
    },
  };
  /**
   * The gap of the service, by the end of the list. What is counted behind it must have been known before, or be records that
   * are known to be hidden: a count that merely rose means that records are missing here. That a list shows more than is
   * counted, only a whole walk says.
   */
  async function measureGap(): Promise<ServiceGap> {
    if (isDone && !behind) return gap;
    const { hidden } = await patience("count hidden builds", () => countListed(sql, "build"));
    const most = Math.max(hidden, gap.unshown + noted);
    // The budget may be used up before the end was read.
    if (!isDone && behind === null && most > 0)
      await parts.read(
        Math.max(0, top.places - Math.floor((most - gap.unshown + first.limit) / 2)),
        first.limit,
      );
    if (behind === null || missing.held !== null) return gap;
    const least = Math.min(0, gap.unshown);
    return { ...gap, unshown: Math.max(least, Math.min(most, gap.unshown + behind)) };
  }

  let measured = gap;
  try {
    noted += await missing.note({ newerThan: top.newest, olderThan: null }, headIds);
    ({ isDone } = await bisect(top, parts, { limit: first.limit, budget }));
    measured = await measureGap();
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    requests = Math.max(requests, budget);
    log.warn({ error: error.message, hint: error.hint }, "looking into the list of builds broke off");
  } finally {
    source.close();
    await settled.end();
  }
  const facts = { requests, is_done: isDone, missing: noted, dates_moved: hasMoved };
  log.info(facts, "searched the builds for differences");
  return { requests, isDone, gap: measured, counts: settled.counts, oldestAt: settled.oldestAt };
}

/** Null for a page that does not show its order, or not all of itself, or contradicts its count. */
export function toDatedPage(page: FetchedPage, gap: ServiceGap): DatedPage | null {
  const { request, meta, ids } = page;
  const at = parsePageRequest(request);
  const dates = shownDates(page);
  const { totalCount, count } = meta;
  if (!at || !dates || totalCount === null || count !== ids.length) return null;
  const { offset } = at;
  // What is shown twice has two places on the pages, but is one record here.
  const shown = totalCount - gap.unshown;
  const places = shown - gap.repeated;
  const end = offset + count;
  // A full page shows no end, whatever `next` and the count say (`course.ts`).
  const isLast = count > 0 && meta.next === null && !isFull(at, meta);
  if ((meta.offset ?? offset) !== offset || (count > 0 && end > shown && !isLast)) return null;
  return { offset, places, dates, behind: isLast ? shown - end : null };
}
