import { type Clock, systemClock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { SyncSettings } from "../../mirror/lists/plan.ts";
import type { RunSummary } from "../../mirror/lists/summary.ts";
import type { RunResult } from "../../mirror/run/close-run.ts";
import { runSync, type SyncOptions, type SyncResult } from "../../mirror/run/run.ts";
import { runWatchRound } from "../../mirror/run/watch-round.ts";
import type { RunOptions } from "../../mirror/run/with-run.ts";
import { withReport } from "../../report/refresh/refresh.ts";
import type { World } from "../../simulate/world.ts";
import type { Connections } from "../../store/ledger/connections.ts";
import type { SyncKind } from "../../store/schema/runs.ts";

const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/** When the demo syncs, in virtual minutes after the first sync. Null runs what is due. */
const SYNCS: readonly (readonly [minute: number, kind: SyncKind | null])[] = [
  [0, "full"],
  [120, null],
  [720, null],
  [1320, null],
  [1440, "full"],
];
/**
 * The watch fills the first and the last two hours: the page of trends ends with yesterday, and others begin with the
 * newest builds. A worker looks each minute and all day, but each round takes a tenth of a second here. A time is
 * known to the pages within five minutes, and both its ends lie between two rounds.
 */
const WATCH_EVERY_MINUTES = 2;
const LONGEST_WATCHED_MINUTES = 120;

/** A run in the demo: `took_ms` is real time, the summary's times are the simulated world's. */
export interface DemoRun extends RunSummary {
  took_ms: number;
}

/** Consecutive rounds of the watch. */
export type DemoWatch = Awaited<ReturnType<typeof watchFor>>;

export interface DemoSyncDeps {
  world: World;
  settings: SyncSettings;
  connections: Connections;
  log: Logger;
  signal: AbortSignal;
}

/**
 * Runs one sync while virtual time stands still. Throws the error of a run that failed or was stopped. `isRead` tells
 * whether somebody can read the reports after it, so that they must be computed.
 */
async function syncAt(
  deps: DemoSyncDeps,
  kind: SyncKind | null,
  isRead: boolean,
  onProgress?: SyncOptions["onProgress"],
): Promise<{ run: DemoRun; result: SyncResult }> {
  const startedAt = performance.now();
  const sync = isRead ? withReport(runSync) : runSync;
  const result = await sync({ ...runOptions(deps), kind, ...(onProgress && { onProgress }) });
  const run = { ...orThrow(result).summary, took_ms: Math.round(performance.now() - startedAt) };
  deps.log.info(runFacts(run), "synced");
  return { run, result };
}

/** Advances the world by some minutes and lets a round of the watch follow, `rounds` times. No reports are computed. */
async function watchFor(deps: DemoSyncDeps, rounds: number, everyMinutes: number, round = runWatchRound) {
  const { world, log, signal } = deps;
  const startedAt = performance.now();
  const counts = { rounds: 0, requests: 0, inserted: 0, updated: 0, transitions: 0 };
  const started_at = world.now().toISOString();
  while (counts.rounds < rounds) {
    signal.throwIfAborted();
    world.advance(everyMinutes * MINUTE_MS);
    const { summary } = orThrow(await round(runOptions(deps)));
    counts.rounds += 1;
    counts.requests += summary.requests;
    counts.inserted += summary.resources.build?.inserted ?? 0;
    counts.updated += summary.resources.build?.updated ?? 0;
    counts.transitions += summary.transitions;
  }
  const took_ms = Math.round(performance.now() - startedAt);
  const { inserted, transitions } = counts;
  log.info({ rounds, inserted, transitions, took_ms }, "watched");
  return { started_at, ...counts, took_ms };
}

function runOptions({ world, settings, connections, log, signal }: DemoSyncDeps): RunOptions {
  // Stored times are the world's; waits between requests are in real time.
  const clock: Clock = { now: () => world.now(), sleep: systemClock.sleep };
  // A run's own log lines would hide the demo's.
  const quiet = log.level === "info" ? log.child({}, { level: "warn" }) : log;
  return { settings, connections, clock, log: quiet, signal };
}

function orThrow(result: RunResult): RunResult {
  const { status } = result.summary;
  if (status === "failed" || status === "interrupted") throw result.error;
  return result;
}

/** Advances the world by a day. Returns its syncs and rounds, and the first sync that did not fully succeed. */
export async function passDay(
  deps: DemoSyncDeps,
  onFirstProgress: NonNullable<SyncOptions["onProgress"]>,
  onFirstDone: () => void,
): Promise<{ runs: DemoRun[]; watches: DemoWatch[]; imperfect: SyncResult | null }> {
  const { world, signal } = deps;
  const startMs = world.now().getTime();
  const runs: DemoRun[] = [];
  const watches: DemoWatch[] = [];
  let imperfect: SyncResult | null = null;
  for (const [place, [minute, kind]] of SYNCS.entries()) {
    signal.throwIfAborted();
    world.advanceTo(new Date(startMs + minute * MINUTE_MS));
    const isFirst = runs.length === 0;
    const next = SYNCS[place + 1];
    const isLast = next === undefined;
    const { run, result } = await syncAt(deps, kind, isLast, isFirst ? onFirstProgress : undefined);
    if (isFirst) onFirstDone();
    runs.push(run);
    if (run.status !== "succeeded") imperfect ??= result;
    // The next sync comes in place of a round.
    const minutes = isLast ? 0 : next[0] - minute;
    const rounds = minutes / WATCH_EVERY_MINUTES - 1;
    if (rounds > 0 && minutes <= LONGEST_WATCHED_MINUTES)
      watches.push(await watchFor(deps, rounds, WATCH_EVERY_MINUTES));
  }
  return { runs, watches, imperfect };
}

/**
 * Lets the world keep step with the real clock, with a round of the watch each minute and a sync each hour, until the
 * signal is aborted. The page counts ages by the real clock, so a world that ran ahead would lie in the future.
 */
export async function keepGoing(deps: DemoSyncDeps): Promise<never> {
  const { world, log, signal } = deps;
  for (let minute = 1; ; minute++) {
    const due = world.now().getTime() + MINUTE_MS;
    await systemClock.sleep(Math.max(0, due - systemClock.now().getTime()), signal);
    try {
      if (minute % 60 === 0) {
        world.advance(MINUTE_MS);
        await syncAt(deps, null, true);
      } else {
        const quiet = { ...deps, log: log.child({}, { level: "warn" }) };
        await watchFor(quiet, 1, 1, withReport(runWatchRound));
      }
    } catch (error) {
      signal.throwIfAborted();
      log.error({ error: messageOf(error) }, "a sync failed");
    }
  }
}

function runFacts(run: DemoRun) {
  const { run_id, kind, status, started_at, transitions, took_ms } = run;
  const counts = { inserted: sumOf(run, "inserted"), updated: sumOf(run, "updated"), transitions };
  return { run_id, kind, status, started_at, ...counts, took_ms };
}

/** A count of all resources together. */
export function sumOf({ resources }: DemoRun, count: "inserted" | "updated"): number {
  return Object.values(resources).reduce((total, walk) => total + walk[count], 0);
}
