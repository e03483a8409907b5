/**
 * One round of the watch: the head of the build list until it joins what is known, then the details of open builds
 * that are due. It stores what it sees at once, so that each round knows what the last one saw.
 */
import { ageMs } from "../../base/clock.ts";
import { describeDropped, findDropped } from "../../store/ledger/dropped-lists.ts";
import { findHeadFacts } from "../../store/ledger/run-ledger.ts";
import { followOpenBuilds } from "../builds/follow-open-builds.ts";
import { createPageSizes } from "../lists/page-sizes.ts";
import type { WalkPlan } from "../lists/plan.ts";
import { skippedWalk } from "../lists/summary.ts";
import { walkLists } from "../lists/walk-lists.ts";
import type { RunResult } from "./close-run.ts";
import { confirmDeletions } from "./confirm-deletions.ts";
import type { OpenRun } from "./open-run.ts";
import { type RunOptions, withRun } from "./with-run.ts";

/** Most rounds read only one page, and each build comes with its whole output. */
const HEAD_PAGE_SIZE = 20;
/** After a longer time without a round, pages are as large as in a sync: there may be much to read. */
const SMALL_PAGES_WITHIN_MS = 3_600_000;
/** The seconds of a minute for details, so that the next round begins in time. The rate gives their number. */
const DETAIL_SECONDS = 48;
const MAX_DETAILS = 1000;
/** A search for what came or went below the head, and the details of what is missing, may each take this share of them. */
const SEARCH_SHARE = 0.25;
/** The most stuck builds in a round: 240 an hour, at one round a minute. */
const MAX_STUCK = 4;

/** Throws `LockedError` at once when another run has the lock, and `StoreError`. Later errors are in the result. */
export function runWatchRound(options: RunOptions): Promise<RunResult> {
  return withRun(options, "watch", (run) => watch(options, run));
}

async function watch({ settings }: RunOptions, run: OpenRun): Promise<void> {
  const { ending, sql, patience, startedAt, totals } = run;
  const { before, dropped } = await patience("find the last walk", async () => ({
    before: await findHeadFacts(sql, "build"),
    dropped: await findDropped(sql),
  }));
  const gone = dropped.find(({ resource, why }) => resource === "build" && why !== "absent");
  if (gone) {
    ending.resources.build = { ...skippedWalk(describeDropped(gone)), dropped: true };
    return;
  }
  if (before.joinedRunId === null) {
    const reason = "no sync has read the builds to their end yet: the watch starts after one has";
    ending.resources.build = skippedWalk(reason);
    // A list that was not walked has no row in the ledger: the run itself says why it is partial.
    run.warn(reason);
    return;
  }
  const isRecent = ageMs(before.endedAt, startedAt) < SMALL_PAGES_WITHIN_MS;
  // On most rounds a page asked for ahead would be wasted, and as expensive as the page that is read.
  const pageSize =
    settings.pageSize === "auto" ? HEAD_PAGE_SIZE : Math.min(HEAD_PAGE_SIZE, settings.pageSize);
  const reading = isRecent ? { ...settings, pageSize, concurrency: 0 } : settings;
  const { ratePerSecond, stuckAfterMs, replicaLagMs } = settings;
  const room = ratePerSecond === 0 ? MAX_DETAILS : Math.ceil(ratePerSecond * DETAIL_SECONDS);
  const most = Math.ceil(room * SEARCH_SHARE);
  // A difference that one search has not settled waits for the next sync, which has more time.
  const search = { most, isRepeated: false, pageSize: settings.pageSize };
  const walk: WalkPlan = {
    resource: "build",
    listPath: "/api/v1/build/",
    kind: "head",
    mayWalkInFull: false,
    search,
    roundDays: null,
  };
  ending.brokenBy = await walkLists(run, {
    turns: [[walk]],
    settings: reading,
    allowMassDelete: false,
    before,
    sizes: createPageSizes(run),
    resumable: [],
    resources: ending.resources,
    unfinished: totals.unfinished,
    onProgress: undefined,
  });
  const { build } = ending.resources;
  if (build?.walk === "head") {
    const left = await confirmDeletions(run, {
      resources: ["build"],
      replicaLagMs,
      maxDetails: most,
      onlyNew: true,
      onDeleted(_, count) {
        build.deleted += count;
      },
    });
    Object.assign(totals.unfinished, left);
  }
  const polled = await followOpenBuilds(run, {
    stuckAfterMs,
    replicaLagMs,
    pageSize: settings.pageSize,
    maxDetails: room,
    maxStuck: MAX_STUCK,
    until: new Date(startedAt.getTime() + DETAIL_SECONDS * 1000),
  });
  totals.unfinished.open_builds = polled.unsettled;
  totals.unfinished.waiting += polled.waiting;
}
