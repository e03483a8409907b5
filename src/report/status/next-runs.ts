import { createDueTimes } from "../../base/due-times.ts";
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
  const lines = [
    { job: "sync", cron: syncCron, findNext: createFindNext(syncCron, timezone) },
    { job: "watch", cron: watchCron, findNext: createFindNext(watchCron, timezone) },
  ] as const;
  return (now) =>
    lines.map(({ job, cron, findNext }) => {
      return { job, cron, timezone, due_at: findNext(now)?.toISOString() ?? null };
    });
}

/** Searches only when the moment that it found has come, because a rare line takes a tenth of a second. */
function createFindNext(cron: string, timezone: string): (now: Date) => Date | null {
  const due = createDueTimes(cron, timezone);
  let found: { from: Date; at: Date | null } | undefined;
  return (now) => {
    const isRight = found !== undefined && found.from <= now && (found.at === null || now < found.at);
    if (!isRight) found = { from: now, at: due.next(now) };
    return found?.at ?? null;
  };
}
