import { LockedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { RunResult } from "../../mirror/run/close-run.ts";
import type { RunOptions } from "../../mirror/run/with-run.ts";
import type { JobDeps } from "./keep-working.ts";
import type { Job, JobOutcome } from "./worker.ts";

export interface WatchJobDeps extends JobDeps {
  cron: string;
  timezone: string;
  runWatchRound(options: RunOptions): Promise<RunResult>;
  /** Whether a round without transitions is logged at level info too. @default false: it would hide other lines */
  logsQuietRounds?: boolean;
}

/** The watch as a job: a round at each tick. The next round covers one that is missed, fails or meets a running sync. */
export function createWatchJob(deps: WatchJobDeps): Job {
  const { cron, timezone, settings, pace, database, assertMayRun, clock, log } = deps;
  const logRound = createRoundLog(log, deps.logsQuietRounds ?? false);
  return {
    name: "watch",
    cron,
    timezone,
    startsAtOnce: true,
    async run(signal) {
      const leftMs = pace.held()?.leftMs() ?? 0;
      if (leftMs > 0) {
        log.debug({ job: "watch", left_ms: leftMs }, "skipped: the service asked for a pause");
        return "busy";
      }
      const databaseUrl = await database.ready(signal);
      try {
        const run = { settings: { ...settings, databaseUrl }, pace, assertMayRun, clock, log, signal };
        const result = await deps.runWatchRound(run);
        signal.throwIfAborted();
        return logRound(result);
      } catch (error) {
        if (!(error instanceof LockedError)) throw error;
        log.debug({ job: "watch", reason: error.message }, "skipped: another run holds the lock");
        return "busy";
      }
    },
  };
}

/**
 * Logs how rounds end. A round often fails for the same cause for hours, such as a count that does not agree until
 * the next full walk. So a cause is logged once, until there is another one. The numbers in it may change meanwhile.
 */
function createRoundLog(log: Logger, logsQuiet: boolean) {
  let lastTrouble: string | null = null;
  return ({ summary }: RunResult): JobOutcome => {
    const { run_id, status, duration_ms, requests, transitions, resources, error } = summary;
    const { walk, inserted = 0, updated = 0, reason } = resources.build ?? {};
    const facts = { run_id, duration_ms, requests, inserted, updated, transitions };
    const trouble =
      status === "succeeded" ? null : `${status} ${walk} ${reason ?? error}`.replaceAll(/\d+/g, "0");
    const isNew = trouble !== lastTrouble;
    lastTrouble = trouble;
    if (status === "succeeded")
      log[logsQuiet || transitions > 0 ? "info" : "debug"](facts, "watch round ended");
    else if (walk === "skipped") log[isNew ? "info" : "debug"]({ run_id, reason }, "nothing to watch yet");
    else
      log[isNew ? "warn" : "debug"]({ ...facts, status, reason, error }, "watch round ended without success");
    return status === "failed" || status === "interrupted" ? "failed" : "done";
  };
}
