import type { HostPace } from "../api/host-pace.ts";
import type { Clock } from "../clock.ts";
import { LockedError } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { SyncSettings } from "../sync/sync-settings.ts";
import type { RunOptions, RunResult } from "../sync/with-run.ts";
import type { Job, JobOutcome } from "./job.ts";
import type { KeptDatabase } from "./kept-database.ts";

export interface WatchJobDeps {
  cron: string;
  timezone: string;
  settings: Omit<SyncSettings, "databaseUrl">;
  pace: HostPace;
  database: KeptDatabase;
  runWatchRound(options: RunOptions): Promise<RunResult>;
  /** Whether a round in which nothing moved is told as well. @default false: a line a minute would drown all others */
  tellsQuietRounds?: boolean;
  clock: Clock;
  log: Logger;
}

/** The watch as a job: a round at each tick. A round that is missed, fails or finds a sync at work is made up for by the next. */
export function createWatchJob(deps: WatchJobDeps): Job {
  const { cron, timezone, settings, pace, database, clock, log } = deps;
  const tell = createRoundTeller(log, deps.tellsQuietRounds ?? false);
  return {
    name: "watch",
    cron,
    timezone,
    startsAtOnce: true,
    async run(signal) {
      const leftMs = pace.held()?.leftMs() ?? 0;
      if (leftMs > 0) {
        log.debug({ job: "watch", leftMs }, "the service asked to be left alone; no round for now");
        return "busy";
      }
      const databaseUrl = await database.ready(signal);
      try {
        const result = await deps.runWatchRound({
          settings: { ...settings, databaseUrl },
          pace,
          clock,
          log,
          signal,
        });
        signal.throwIfAborted();
        return tell(result);
      } catch (error) {
        if (!(error instanceof LockedError)) throw error;
        log.debug({ job: "watch", reason: error.message }, "left to the run that holds the lock");
        return "busy";
      }
    },
  };
}

/**
 * Tells how rounds end. What keeps a round from success stays for hours as a rule, such as a count that does not agree until the next full
 * walk: it is told when it comes, and again when it is another one. Its figures may change meanwhile.
 */
function createRoundTeller(log: Logger, tellsQuiet: boolean): (result: RunResult) => JobOutcome {
  let told: string | null = null;
  return ({ summary }) => {
    const { run_id, status, duration_ms, requests, transitions, resources, error } = summary;
    const { walk, inserted = 0, updated = 0, reason } = resources.build ?? {};
    const facts = { runId: run_id, durationMs: duration_ms, requests, inserted, updated, transitions };
    const trouble =
      status === "succeeded" ? null : `${status} ${walk} ${reason ?? error}`.replaceAll(/\d+/g, "0");
    const isNews = trouble !== told;
    told = trouble;
    if (status === "succeeded")
      log[tellsQuiet || transitions > 0 ? "info" : "debug"](facts, "watch round ended");
    else if (walk === "skipped")
      log[isNews ? "info" : "debug"]({ runId: run_id, reason }, "nothing to watch yet");
    else
      log[isNews ? "warn" : "debug"](
        { ...facts, status, reason, error },
        "watch round ended without success",
      );
    return status === "failed" || status === "interrupted" ? "failed" : "done";
  };
}
