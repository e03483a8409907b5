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
        return outcomeOf(result, log, deps.tellsQuietRounds ?? false);
      } catch (error) {
        if (!(error instanceof LockedError)) throw error;
        log.debug({ job: "watch", reason: error.message }, "left to the run that holds the lock");
        return "busy";
      }
    },
  };
}

function outcomeOf({ summary }: RunResult, log: Logger, tellsQuiet: boolean): JobOutcome {
  const { run_id, status, duration_ms, requests, transitions, resources } = summary;
  const { walk, inserted = 0, updated = 0, reason } = resources.build ?? {};
  const facts = { runId: run_id, durationMs: duration_ms, requests, inserted, updated, transitions };
  const level = tellsQuiet || transitions > 0 ? "info" : "debug";
  if (status === "succeeded") log[level](facts, "watch round ended");
  else if (walk === "skipped") log.info({ runId: run_id, reason }, "nothing to watch yet");
  else log.warn({ ...facts, status, reason, error: summary.error }, "watch round ended without success");
  return status === "failed" || status === "interrupted" ? "failed" : "done";
}
