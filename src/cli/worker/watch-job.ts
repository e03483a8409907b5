import { LockedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { RunResult } from "../../mirror/run/close-run.ts";
import type { RunOptions } from "../../mirror/run/with-run.ts";
import { createRunLog, endOfRun } from "./end-of-run.ts";
import type { JobDeps } from "./keep-working.ts";
import type { Job, JobEnd } from "./worker.ts";

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
        return { outcome: "busy", trouble: null };
      }
      const connections = await database.ready(signal);
      try {
        const result = await runWatchRound({ ...run, connections, log: runLog, signal });
        signal.throwIfAborted();
        return endOf(result, log, logsQuietRounds);
      } catch (error) {
        if (!(error instanceof LockedError)) throw error;
        log.debug({ job: "watch", reason: error.message }, "skipped: another run is under way");
        return { outcome: "busy", trouble: null };
      }
    },
  };
}

function endOf({ summary, error }: RunResult, log: Logger, logsQuiet: boolean): JobEnd {
  const { run_id, status, duration_ms, requests, transitions, resources } = summary;
  const { walk, inserted = 0, updated = 0, reason = "" } = resources.build ?? {};
  const facts = { run_id, duration_ms, requests, inserted, updated, transitions };
  if (status === "succeeded")
    log[logsQuiet || transitions > 0 ? "info" : "debug"](facts, "watch round ended");
  else if (walk === "skipped") return { outcome: "waiting", trouble: reason, facts: { run_id, reason } };
  return endOfRun(summary, error, facts);
}
