/**
 * One round of the watch: the head of the build list until it joins what is known, then the details of open builds that are due. It writes
 * what it sees at once, so that each round knows what the last one saw.
 */
import { followOpenBuilds } from "../builds/follow-open-builds.ts";
import { ageMs } from "../clock.ts";
import { findService } from "../db/mirrored-service.ts";
import { findLastEndedWalk, findLastJoinedRun } from "../db/run-ledger.ts";
import { keepService } from "./keep-service.ts";
import { emptyCounts } from "./summary.ts";
import { walkLists } from "./walk-lists.ts";
import { type OpenRun, type RunOptions, type RunResult, withRun } from "./with-run.ts";

/** A page of the head: on most rounds it is all that is read, and each build comes with its whole output. */
const HEAD_PAGE_SIZE = 20;
/** After a longer time without a round the pages are as large as a sync's: there may be much to read. */
const SMALL_PAGES_WITHIN_MS = 3_600_000;
/** What details may take of a minute, and of the requests that it has room for, so that the next round begins in time. */
const DETAIL_SECONDS = 48;
/** Where there is no rate. */
const MAX_DETAILS = 1000;
/** Of stuck builds so few in a round: 240 an hour, at a round a minute. */
const MAX_STUCK = 4;

/**
 * Runs one round, under the run lock as a sync. Throws `LockedError` at once when another run has it, and `StoreError` when the database cannot
 * be used; what goes wrong later is in the result. Safe to repeat.
 */
export function runWatchRound(options: RunOptions): Promise<RunResult> {
  return withRun(options, "watch", (run) => watch(options, run));
}

async function watch({ settings }: RunOptions, run: OpenRun): Promise<void> {
  const { ending, sql, patience, startedAt, totals } = run;
  const { joined, ended, service } = await patience("find the last walk", async () => ({
    joined: await findLastJoinedRun(sql, "build"),
    ended: await findLastEndedWalk(sql, "build"),
    service: await findService(sql),
  }));
  if (joined === null) {
    // To join, there must be something: the whole list is for a sync to read.
    const reason = "no builds are mirrored yet: the watch begins when a sync has read them once";
    ending.resources.build = { walk: "skipped", reason, ...emptyCounts(), total_count: null };
    return;
  }
  // From here on it writes what this service says. The next sync adds what the root listing names.
  if (service === null) await keepService(run, []);
  const isRecent = ageMs(ended?.finishedAt ?? null, startedAt) < SMALL_PAGES_WITHIN_MS;
  // A page asked for ahead would be for nothing on most rounds, and as expensive as the one that is read.
  const reading = isRecent
    ? { ...settings, pageSize: Math.min(settings.pageSize, HEAD_PAGE_SIZE), concurrency: 0 }
    : settings;
  ending.brokenBy = await walkLists({
    ...run,
    walks: [{ resource: "build", listPath: "/api/v1/build/", kind: "head", mayWalkInFull: false }],
    settings: reading,
    allowMassDelete: false,
    resumable: [],
    resources: ending.resources,
    onProgress: undefined,
  });
  const room =
    settings.ratePerSecond === 0 ? MAX_DETAILS : Math.ceil(settings.ratePerSecond * DETAIL_SECONDS);
  const { stuckAfterMs } = settings;
  const polled = await followOpenBuilds({
    ...run,
    stuckAfterMs,
    pageSize: settings.pageSize,
    maxDetails: room,
    maxStuck: MAX_STUCK,
    until: new Date(startedAt.getTime() + DETAIL_SECONDS * 1000),
  });
  totals.unfinished.open_builds = polled.unsettled;
}
