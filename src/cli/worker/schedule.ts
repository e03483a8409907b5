import type { Clock } from "../../base/clock.ts";
import { createDueTimes } from "../../base/due-times.ts";

/** How often the clock is looked at: so late is a due time at most on a machine that slept, or whose clock jumped. */
const LOOK_EVERY_MS = 10_000;
/** A clock that is put back by less, as time servers do, does not bring a due time again. */
const SET_BACK_MS = 60_000;

export interface Schedule {
  /** May be called twice. */
  stop(): void;
}

/** Calls `onTick` whenever the cron line is due in its time zone, until it is stopped. */
export type StartSchedule = (line: { cron: string; timezone: string }, onTick: () => void) => Schedule;

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
