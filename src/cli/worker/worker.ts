/**
 * The long-running process: several jobs, each on its own schedule.
 *
 *   made ──start──▶ up ──stop──▶ stopping ──every job has ended, or too late──▶ down
 *   made ──stop──▶ down, for good
 */
import { type Clock, LONGEST_SLEEP_MS } from "../../base/clock.ts";
import { createDueTimes } from "../../base/due-times.ts";
import { MirrorError, messageOf, StoppedError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { createTrouble } from "../../base/trouble.ts";

/** A supervisor allows 10 s for a stop as a rule; the remaining time is for closing the database. */
const PATIENCE_MS = 7000;

export interface WorkerDeps {
  jobs: readonly Job[];
  clock: Clock;
  log: Logger;
  /** @default by the clock on the wall */
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

/**
 * The end of a job's run. `busy` means that another run is doing the work now, or there was none, which says nothing of how
 * it goes. `waiting` means that something else must come first.
 */
export type JobOutcome = "done" | "busy" | "waiting" | "failed";

/** `trouble` says why not all is well, also where the run is done; null where all is. The worker logs it with `facts`. */
export interface JobEnd {
  outcome: JobOutcome;
  trouble: string | null;
  facts?: Record<string, unknown>;
}

export const DONE: JobEnd = { outcome: "done", trouble: null };
export const BUSY: JobEnd = { outcome: "busy", trouble: null };

/** Work that the worker does on a schedule. */
export interface Job {
  readonly name: string;
  readonly cron: string;
  /** An IANA name. */
  readonly timezone: string;
  /**
   * Never called again before it has ended. When `signal` is aborted it soon throws its reason. Any other
   * error counts as `failed`. It calls `rest` when only work is left that may wait. The next tick aborts the
   * signal that `rest` gives, and the job runs again as soon as this run has ended.
   */
  run(signal: AbortSignal, rest?: () => AbortSignal): Promise<JobEnd>;
  /** The waits before a failed run is tried again; after the last one it waits for its next tick. @default none */
  readonly retryAfterMs?: readonly number[];
  /** The first run is at the start rather than at the first tick. @default false */
  readonly startsAtOnce?: boolean;
  /** Work is done up to this moment; null: not known. At the start, a later due time is run late. @default none is */
  lastGoodAt?(signal: AbortSignal): Promise<Date | null>;
}

/**
 * One job from start to stop:
 *
 *   asleep ──start──▶ looking back ──its last due time had a good run──▶ waiting
 *                                  ──it had none, or the job starts at once──▶ running
 *   waiting ──tick──▶ running
 *   running ──done, busy elsewhere, or too early──▶ waiting
 *           ──tick, with only work left that may wait──▶ running
 *           ──failed──▶ backing off ──its wait is over, or a tick──▶ running
 *           ──failed, with no waits left──▶ waiting
 *   any state ──stop──▶ ended
 *
 * A tick while looking back or running starts nothing: the run that is under way, or about to start, covers
 * it. Looking back waits for the database first, so it sees every due time up to then.
 */

type JobState = "asleep" | "looking back" | "waiting" | "running" | "backing off" | "ended";

function createScheduledJob(deps: { job: Job; clock: Clock; schedule: StartSchedule; log: Logger }) {
  const { job, clock, schedule, log } = deps;
  const stopped = new AbortController();
  const { signal } = stopped;
  const retryAfterMs = job.retryAfterMs ?? [];
  const due = createDueTimes(job.cron, job.timezone);
  const troubles = createTrouble(clock);
  let state: JobState = "asleep";
  let wake: AbortController | null = null;
  /** Ends the part of the run that may wait. Null while the run has not come to it. */
  let resting: AbortController | null = null;
  let ticks: Schedule | null = null;
  let life: Promise<unknown> = Promise.resolve();

  function tick(): void {
    if (wake) wake.abort();
    else if (resting) resting.abort(new Error("the next run is due"));
    else log.debug({ job: job.name, state }, "skipped: the previous run is still running");
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

  /** The newest due time had no good run. True when that is not known: an extra run does no harm. */
  async function isBehind(): Promise<boolean> {
    if (!job.lastGoodAt) return false;
    // The run itself says what is wrong.
    const goodAt = await job.lastGoodAt(signal).catch(() => null);
    signal.throwIfAborted();
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

  async function run(): Promise<JobEnd> {
    state = "running";
    resting = null;
    try {
      const end = await job.run(signal, rest);
      signal.throwIfAborted();
      return end;
    } catch (error) {
      signal.throwIfAborted();
      const hint = error instanceof MirrorError ? error.hint : undefined;
      const trouble = messageOf(error);
      return { outcome: "failed", trouble, facts: { error: trouble, hint } };
    }
  }

  /** Writes one line about the end of a run, with what comes next. The same trouble again is counted. */
  function note({ outcome, trouble, facts }: JobEnd, nextAt: Date | null): void {
    const over = trouble === null && outcome === "done" ? troubles.over() : null;
    if (over) log.info({ job: job.name, ...over }, "all is well again");
    if (trouble === null) return;
    const { isNews, again } = troubles.failed(trouble);
    const line = { job: job.name, ...facts, ...again, next_run_at: nextAt?.toISOString() };
    if (!isNews) log.debug(line, "not well, as before");
    else if (outcome === "waiting") log.info(line, "nothing to do yet");
    else if (outcome === "failed") log.error(line, "run failed");
    else log.warn(line, "run ended, but not all is well");
  }

  async function live(): Promise<never> {
    state = "looking back";
    let isDue = job.startsAtOnce === true || (await isBehind());
    let failures = 0;
    for (;;) {
      while (!isDue) isDue = (await pause("waiting", LONGEST_SLEEP_MS)) === "tick";
      const end = await run();
      const waitMs = end.outcome === "failed" ? retryAfterMs[failures] : undefined;
      const now = clock.now();
      note(end, waitMs === undefined ? due.next(now) : new Date(now.getTime() + waitMs));
      isDue = resting?.signal.aborted === true;
      resting = null;
      if (waitMs !== undefined) {
        failures++;
        if ((await pause("backing off", waitMs)) === "tick") failures = 0;
        isDue = true;
        continue;
      }
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

/** The time between two looks at the clock: so late is a due time at most on a machine that slept, or whose clock jumped. */
const LOOK_EVERY_MS = 10_000;
/** A clock that is put back by less, as time servers do, does not bring a due time again. */
const SET_BACK_MS = 60_000;

interface Schedule {
  /** May be called twice. */
  stop(): void;
}

/** Calls `onTick` whenever the cron line is due in its time zone, until it is stopped. */
type StartSchedule = (line: { cron: string; timezone: string }, onTick: () => void) => Schedule;

/**
 * Schedules by the clock on the wall, which may jump. However many due times a jump passed, one tick comes for them, and what is
 * next is found anew. node-cron's own timer would compute each of them: after a jump of years that takes minutes.
 */
export function createSchedule(clock: Clock): StartSchedule {
  return ({ cron, timezone }, onTick) => {
    const due = createDueTimes(cron, timezone);
    const stopped = new AbortController();
    let seenMs = clock.now().getTime();
    let nextMs = nextAfter(seenMs);

    function nextAfter(nowMs: number): number {
      return due.next(new Date(nowMs))?.getTime() ?? Number.POSITIVE_INFINITY;
    }

    async function keep(): Promise<never> {
      for (;;) {
        await clock.sleep(Math.max(1, Math.min(LOOK_EVERY_MS, nextMs - seenMs)), stopped.signal);
        const nowMs = clock.now().getTime();
        const isDue = nowMs >= nextMs;
        if (isDue || nowMs < seenMs - SET_BACK_MS) nextMs = nextAfter(nowMs);
        seenMs = nowMs;
        if (isDue) onTick();
      }
    }

    // Any other end than the stop would leave a worker that does nothing. Unhandled it ends the process, and a supervisor starts it anew.
    keep().catch((error: unknown) => {
      if (!stopped.signal.aborted) throw error;
    });
    return { stop: () => stopped.abort() };
  };
}
