import { schedule } from "node-cron";
import type { Logger } from "../../base/log.ts";

/** A busy process ticks late; a tick that is up to a minute late still counts. */
const TOLERANCE_MS = 60_000;

export interface Schedule {
  /** May be called twice. */
  stop(): void;
}

/** Calls `onTick` whenever the cron line is due in its time zone, until it is stopped. */
export type StartSchedule = (line: { cron: string; timezone: string }, onTick: () => void) => Schedule;

/** Schedules with node-cron. The job itself prevents overlaps: `noOverlap` knows only the runs that cron starts. */
export function createCronSchedule(log: Logger): StartSchedule {
  const write = (level: "debug" | "info" | "warn" | "error") => (message: string | Error) => {
    log[level]({ said: message instanceof Error ? message.message : message }, "node-cron says something");
  };
  return ({ cron, timezone }, onTick) => {
    const task = schedule(cron, () => onTick(), {
      timezone,
      // Without it node-cron writes to the console.
      logger: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") },
      missedExecutionTolerance: TOLERANCE_MS,
      // The job looks for missed ticks itself.
      suppressMissedWarning: true,
    });
    return { stop: () => void task.destroy() };
  };
}
