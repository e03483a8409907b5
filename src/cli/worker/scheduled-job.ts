/**
 * One job from start to stop:
 *
 *   asleep ──start──▶ looking back ──its last due time had a good run──▶ waiting
 *                                  ──it had none, or the job starts at once──▶ running
 *   waiting ──tick──▶ running
 *   running ──done, or busy elsewhere──▶ waiting
 *           ──tick, with only work left that may wait──▶ running
 *           ──failed──▶ backing off ──its wait is over, or a tick──▶ running
 *           ──failed, with no waits left──▶ waiting
 *   any state ──stop──▶ ended
 *
 * A tick while looking back or running starts nothing: the run that is under way, or about to start, covers
 * it. Looking back waits for the database first, so it sees every due time up to then.
 */

import { type Clock, LONGEST_SLEEP_MS } from "../../base/clock.ts";
import { createDueTimes } from "../../base/due-times.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Job, JobOutcome } from "./job.ts";
import type { Schedule, StartSchedule } from "./schedule.ts";

export type JobState = "asleep" | "looking back" | "waiting" | "running" | "backing off" | "ended";

export function createScheduledJob(deps: { job: Job; clock: Clock; schedule: StartSchedule; log: Logger }) {
  const { job, clock, schedule, log } = deps;
  const stopped = new AbortController();
  const { signal } = stopped;
  const retryAfterMs = job.retryAfterMs ?? [];
  const due = job.lastGoodAt ? createDueTimes(job.cron, job.timezone) : null;
  let state: JobState = "asleep";
  let wake: AbortController | null = null;
  /** Ends the part of the run that may wait. Null while the run has not come to it. */
  let resting: AbortController | null = null;
  let ticks: Schedule | null = null;
  let life: Promise<unknown> = Promise.resolve();

  function tick(): void {
    if (wake) wake.abort();
    else if (resting) resting.abort(new Error("the next run is due"));
    else if (!signal.aborted)
      log.warn({ job: job.name, state }, "skipped: the previous run is still running");
  }

  /** Waits for the next tick, `ms` at most. */
  async function pause(next: "waiting" | "backing off", ms: number): Promise<"tick" | "time"> {
    state = next;
    const waking = new AbortController();
    wake = waking;
    try {
      await clock.sleep(ms, AbortSignal.any([signal, waking.signal]));
      return "time";
    } catch (error) {
      if (!waking.signal.aborted || signal.aborted) throw error;
      return "tick";
    } finally {
      wake = null;
    }
  }

  /** Whether the newest due time had no good run. True when that is not known: an extra run does no harm. */
  async function isBehind(): Promise<boolean> {
    if (!due || !job.lastGoodAt) return false;
    let goodAt: Date | null;
    try {
      goodAt = await job.lastGoodAt(signal);
    } catch (error) {
      signal.throwIfAborted();
      log.error({ job: job.name, error: messageOf(error) }, "could not read when the last good run was");
      return true;
    }
    const dueAt = due.last(clock.now());
    if (dueAt === null || (goodAt !== null && goodAt >= dueAt)) return false;
    const last_good_at = goodAt?.toISOString() ?? null;
    const facts = { job: job.name, due_at: dueAt.toISOString(), last_good_at };
    log.info(facts, "missed a scheduled run; running it now");
    return true;
  }

  function rest(): AbortSignal {
    resting ??= new AbortController();
    return resting.signal;
  }

  async function run(): Promise<JobOutcome> {
    state = "running";
    resting = null;
    try {
      const outcome = await job.run(signal, rest);
      signal.throwIfAborted();
      return outcome;
    } catch (error) {
      signal.throwIfAborted();
      log.error({ job: job.name, error: messageOf(error) }, "run failed");
      return "failed";
    }
  }

  async function live(): Promise<never> {
    state = "looking back";
    let isDue = job.startsAtOnce === true || (await isBehind());
    let failures = 0;
    for (;;) {
      while (!isDue) isDue = (await pause("waiting", LONGEST_SLEEP_MS)) === "tick";
      const outcome = await run();
      const waitMs = outcome === "failed" ? retryAfterMs[failures] : undefined;
      isDue = resting?.signal.aborted === true;
      resting = null;
      if (waitMs !== undefined) {
        failures++;
        log.warn({ job: job.name, failures, wait_ms: waitMs }, "run failed; trying again after a wait");
        if ((await pause("backing off", waitMs)) === "tick") failures = 0;
        isDue = true;
        continue;
      }
      const facts = { job: job.name, failures: failures + 1 };
      if (outcome === "failed") log.error(facts, "run failed too often; waiting for the next scheduled time");
      failures = 0;
    }
  }

  return {
    state: () => state,
    /** Returns at once. A second call, or one after `stop`, does nothing. */
    start() {
      if (state !== "asleep") return;
      ticks = schedule(job, tick);
      life = live().catch((error: unknown) => {
        // A job without a life would be one that never runs again. Unhandled it ends the process.
        if (!signal.aborted) throw error;
      });
    },
    /** Ends the current run or wait with `reason`, and waits for it. May be called twice, and before `start`. */
    async stop(reason: unknown) {
      ticks?.stop();
      if (!signal.aborted) stopped.abort(reason);
      await life;
      state = "ended";
    },
  };
}
