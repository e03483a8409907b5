/**
 * The long-running process: several jobs, each on its own schedule.
 *
 *   made ──start──▶ up ──stop──▶ stopping ──every job has ended, or too late──▶ down
 *   made ──stop──▶ down, for good
 *
 * Each job's own states are in `scheduled-job.ts`.
 */
import type { Clock } from "../../base/clock.ts";
import { StoppedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Job } from "./job.ts";
import { createSchedule, type StartSchedule } from "./schedule.ts";
import { createScheduledJob, type JobState } from "./scheduled-job.ts";

/** A supervisor allows 10 s for a stop as a rule; the remaining time is for closing the database. */
const PATIENCE_MS = 7000;

export interface WorkerDeps {
  jobs: readonly Job[];
  clock: Clock;
  log: Logger;
  /** @default by the clock */
  schedule?: StartSchedule;
}

export type Worker = ReturnType<typeof createWorker>;

export function createWorker(deps: WorkerDeps) {
  const { jobs, clock, log, schedule = createSchedule(clock) } = deps;
  const scheduled = jobs.map((job) => createScheduledJob({ job, clock, schedule, log }));
  let stopping: Promise<boolean> | undefined;

  async function stop(reason: unknown, patienceMs: number): Promise<boolean> {
    const over = new AbortController();
    const ended = Promise.all(scheduled.map((job) => job.stop(reason))).then(() => true);
    const late = clock.sleep(patienceMs, over.signal).then(
      () => false,
      () => true,
    );
    const isInTime = await Promise.race([ended, late]);
    over.abort();
    if (!isInTime) log.error({ states: states() }, "a run did not end in time after the stop");
    return isInTime;
  }

  function states(): Record<string, JobState> {
    return Object.fromEntries(jobs.map(({ name }, index) => [name, scheduled[index]?.state() ?? "ended"]));
  }

  return {
    /** The state of each job, by its name. */
    states,
    /** Returns at once; a second call, or one after `stop`, does nothing. */
    start() {
      if (stopping) return;
      for (const job of scheduled) job.start();
    },
    /**
     * Ends current runs with `reason`. They finish their page and keep their checkpoints. True when all ended in
     * time; false when one hangs. May be called twice, and before `start`.
     */
    stop(reason: unknown = new StoppedError("SIGTERM"), patienceMs = PATIENCE_MS): Promise<boolean> {
      stopping ??= stop(reason, patienceMs);
      return stopping;
    },
  };
}
