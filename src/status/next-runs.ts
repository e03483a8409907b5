import { createDueTimes } from "../schedule/due-times.ts";
import type { StatusSettings } from "./status-settings.ts";

/** A scheduled run that is still to come. */
export interface NextRun {
  job: "sync" | "watch";
  /** The cron line, and the IANA name of the zone in which it is read. */
  cron: string;
  timezone: string;
  /** The next moment at which the line is due; null when there is none in 40 years. */
  due_at: string | null;
}

/** Says when each job of a worker with these settings is due next. */
export function createNextRuns({
  syncCron,
  watchCron,
  timezone,
}: Pick<StatusSettings, "syncCron" | "watchCron" | "timezone">): (now: Date) => NextRun[] {
  const jobs = [["sync", syncCron] as const, ["watch", watchCron] as const].map(([job, cron]) => ({
    job,
    cron,
    due: createDueTimes(cron, timezone),
  }));
  return (now) =>
    jobs.map(({ job, cron, due }) => ({ job, cron, timezone, due_at: due.next(now)?.toISOString() ?? null }));
}
