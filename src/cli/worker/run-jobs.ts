/** The jobs that make runs: the nightly sync and the watch. Each run has a quiet log, and its end is one line. */
import type { Clock } from "../../base/clock.ts";
import { LockedError, MirrorError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createTrouble, type Trouble } from "../../base/trouble.ts";
import { isUpstreamLost } from "../../mirror/api/fates.ts";
import type { RunSummary } from "../../mirror/lists/summary.ts";
import type { RunResult } from "../../mirror/run/close-run.ts";
import type { SyncOptions, SyncResult } from "../../mirror/run/run.ts";
import type { RunOptions } from "../../mirror/run/with-run.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { findListFreshness, mirrorAgeMs } from "../../store/ledger/list-freshness.ts";
import { wrapLog } from "../context/run-command.ts";
import { describeLeft } from "../sync/print-summary.ts";
import type { JobDeps } from "./keep-working.ts";
import { BUSY, DONE, type Job, type JobEnd } from "./worker.ts";

const MINUTE_MS = 60_000;

interface NightlySyncDeps extends JobDeps {
  cron: string;
  timezone: string;
  runSync(options: SyncOptions): Promise<SyncResult>;
}

/**
 * The nightly sync as a job. A run that failed or lost upstream is tried again after 5, 15 and 60 minutes,
 * and resumes from its checkpoints. A run that is partial for another reason is not tried again.
 */
export function createNightlySync(deps: NightlySyncDeps): Job {
  const { cron, timezone, runSync, database, ...run } = deps;
  const { clock, log } = run;
  const runLog = createRunLog(log, clock);
  return {
    name: "sync",
    cron,
    timezone,
    retryAfterMs: [5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS],
    lastGoodAt: async (signal) => findOldestGoodStart((await database.ready(signal)).sql, clock.now()),
    async run(signal, rest) {
      const connections = await database.ready(signal);
      log.info({ job: "sync" }, "sync started");
      try {
        const options = { ...run, connections, log: runLog, signal };
        const result = await runSync(rest ? { ...options, giveWay: rest } : options);
        signal.throwIfAborted();
        return endOfSync(result, log);
      } catch (error) {
        // Only another sync does this night's work. A round that hangs, or a quarantine retry, does not.
        const isBusy = error instanceof LockedError && ["full", "incremental"].includes(error.heldBy ?? "");
        if (!isBusy) throw error;
        log.info({ job: "sync", reason: error.message }, "skipped: another run is under way");
        return BUSY;
      }
    },
  };
}

function endOfSync({ summary, error }: SyncResult, log: Logger): JobEnd {
  const { run_id, kind, status, duration_ms, requests, transitions, content } = summary;
  const records = Object.fromEntries(
    Object.entries(summary.resources).map(([resource, walk]) => [resource, walk.records]),
  );
  const facts = { run_id, kind, duration_ms, requests, transitions, records, ...(content && { content }) };
  if (status === "succeeded") log.info(facts, "sync succeeded");
  return endOfRun(summary, error, facts);
}

/** The earliest start of the lists' last good walks. Null where a list has none, or one dated ahead of now. */
async function findOldestGoodStart(sql: Sql, now: Date): Promise<Date | null> {
  const lists = await withStoreErrors("read how fresh the lists are", () => findListFreshness(sql));
  const age = mirrorAgeMs(lists, now);
  return Number.isFinite(age) ? new Date(now.getTime() - age) : null;
}

export interface WatchJobDeps extends JobDeps {
  cron: string;
  timezone: string;
  runWatchRound(options: RunOptions): Promise<RunResult>;
  /** Logs a round without transitions at level info too. @default false: it would hide other lines */
  logsQuietRounds?: boolean;
}

/** The watch as a job: a round at each tick. The next round covers one that is missed, fails or meets a running sync. */
export function createWatchJob(deps: WatchJobDeps): Job {
  const { cron, timezone, runWatchRound, logsQuietRounds = false, database, ...run } = deps;
  const { pace, clock, log } = run;
  const runLog = createRunLog(log, clock);
  return {
    name: "watch",
    cron,
    timezone,
    startsAtOnce: true,
    async run(signal) {
      const leftMs = pace.held()?.leftMs() ?? 0;
      if (leftMs > 0) {
        log.debug({ job: "watch", left_ms: leftMs }, "skipped: the service asked for a pause");
        return BUSY;
      }
      const connections = await database.ready(signal);
      try {
        const result = await runWatchRound({ ...run, connections, log: runLog, signal });
        signal.throwIfAborted();
        return endOfRound(result, log, logsQuietRounds);
      } catch (error) {
        if (!(error instanceof LockedError)) throw error;
        log.debug({ job: "watch", reason: error.message }, "skipped: another run is under way");
        return BUSY;
      }
    },
  };
}

function endOfRound({ summary, error }: RunResult, log: Logger, logsQuiet: boolean): JobEnd {
  const { run_id, status, duration_ms, requests, transitions, resources } = summary;
  const { walk, inserted = 0, updated = 0, reason = "" } = resources.build ?? {};
  const facts = { run_id, duration_ms, requests, inserted, updated, transitions };
  if (status === "succeeded")
    log[logsQuiet || transitions > 0 ? "info" : "debug"](facts, "watch round ended");
  else if (walk === "skipped") return { outcome: "waiting", trouble: reason, facts: { run_id, reason } };
  return endOfRun(summary, error, facts);
}

/**
 * The log of runs that follow each other all day, and whose end is a line of its own: their other lines are left out, and a
 * warning that repeats is counted. At level debug all are there.
 */
function createRunLog(log: Logger, clock: Clock): Logger {
  if (log.isLevelEnabled("debug")) return log;
  const troubles = new Map<string, Trouble>();
  return wrapLog(log, (write, level, [facts, message]) => {
    if (level === "info") return;
    const trouble = troubles.get(`${message}`) ?? createTrouble(clock);
    troubles.set(`${message}`, trouble);
    const { error } = facts as { error?: string };
    const { isNews, again } = trouble.failed(error ?? JSON.stringify(facts));
    if (isNews) write(again);
  });
}

/** Lists the reasons why not all is well after a run, each once: the error that ended a list often ended the run. */
function endOfRun(summary: RunSummary, error: unknown, facts: JobEnd["facts"]): JobEnd {
  const { status, error: message, resources, warnings = [] } = summary;
  const reasons = Object.entries(resources).flatMap(([resource, { reason, dropped }]) =>
    reason === undefined || dropped || message?.includes(reason) ? [] : [`${resource}: ${reason}`],
  );
  const left = status === "succeeded" ? [] : describeLeft(summary);
  const why = [message ?? [], reasons, warnings, left].flat();
  if (status === "succeeded" && why.length === 0) return DONE;
  const hint = error instanceof MirrorError ? error.hint : undefined;
  return {
    outcome: ["failed", "interrupted"].includes(status) || isUpstreamLost(error) ? "failed" : "done",
    trouble: [status, ...why].join("; "),
    facts: { ...facts, status, error: why.join("; "), hint },
  };
}
