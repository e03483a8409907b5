/**
 * The builds are read again in shares, one in each nightly sync, from the newest to the oldest: a round. So what the
 * counts cannot show is found within the days of a round. A share begins behind the date at which the last one ended,
 * wherever that is in the list by now.
 */
import { ageMs } from "../../base/clock.ts";
import { findLastShare, saveShare } from "../../store/ledger/list-freshness.ts";
import type { WalkCounts } from "../../store/ledger/run-ledger.ts";
import type { RunParts } from "../load/loader.ts";
import type { Border } from "../walk/bisection.ts";
import { behind, type DatedPagesOptions, withDatedPages } from "./dated-pages.ts";

const DAY_MS = 86_400_000;
/** Nights begin a little earlier or later. */
const STEPS_A_DAY = 4;
/** The steps back, each by a page, where the list became shorter in front of a page. */
const MOST_STEPS = 4;
/** The size to which pages grow where records of one date fill them. */
const LARGEST_LIMIT = 1000;

/** Reads the next share. Ends early when the service fails, or the pages show no order: the next night goes on there. */
export async function readShare(
  run: RunParts,
  /** `top`: the last border of the head, from which a round begins; `days`: those of a round. */
  options: DatedPagesOptions & { top: Border; days: number },
): Promise<WalkCounts> {
  const { sql, patience, clock, log, runId } = run;
  const { days, top, first } = options;
  const last = await patience("find the last share", () => findLastShare(sql));
  // The round before has come to its end, or there was none.
  const isNew = last === null || last.to === null;
  const from = isNew ? null : last.to;
  const roundRunId = isNew ? runId : last.roundRunId;
  const sinceMs = isNew ? 0 : ageMs(last.roundStartedAt, clock.now());
  const save = (to: string | null) =>
    patience("save a share", () => saveShare(sql, runId, { from, to, roundRunId }));

  const { counts } = await withDatedPages(run, options, async (pages) => {
    let { limit } = first;
    /** Every build with a later date was read in this round. */
    let to = from ?? top.newest;
    let left = from === null ? top.below : ((await pages.count([{ newest: from, oldest: null }]))[0] ?? 0);
    let { places } = top;
    const most = pagesOfShare({ places, below: left, limit, days, sinceMs });
    let steps = 0;
    for (let read = 0; read < most && steps <= MOST_STEPS; read++) {
      const start = Math.max(0, places - left - 1 - steps * limit);
      const page = await pages.read(start, limit, most - read - 1);
      const [newest, oldest] = [page?.dates[0], page?.dates.at(-1)];
      if (!page || newest === undefined || oldest === undefined) break;
      ({ places } = page);
      // The page joins what was read when it begins with a later date, because it then shows the last one whole.
      const isJoined = newest > to || start === 0;
      if (page.isEnd && isJoined) {
        await save(null);
        log.info({ pages: read + 1 }, "every build was read again in this round");
        return;
      }
      const isLonger = newest === oldest && limit < LARGEST_LIMIT;
      if (isLonger) limit = Math.min(LARGEST_LIMIT, limit * 4);
      steps = isJoined && !isLonger ? 0 : steps + 1;
      if (!isJoined || isLonger || oldest >= to) continue;
      to = oldest;
      left = places - behind(page) - 1;
      await save(to);
    }
    log.info({ to }, "read a share of the builds again");
  });
  return counts;
}

/**
 * The pages of a share: as many as bring the round to where it should be, and never more than a night's part.
 * `below`: the places that this round has not read; `sinceMs`: how long ago it began.
 */
function pagesOfShare(facts: Record<"places" | "below" | "limit" | "days" | "sinceMs", number>): number {
  const { places, below, limit, days, sinceMs } = facts;
  // Each page reads the end of the one before again.
  const pages = (records: number) => Math.max(0, Math.ceil(records / Math.max(1, limit - 2)));
  const night = Math.round((sinceMs / DAY_MS) * STEPS_A_DAY) / STEPS_A_DAY + 1;
  const goal = places * Math.max(0, 1 - night / days);
  return Math.min(pages(places / days), pages(below - goal));
}
