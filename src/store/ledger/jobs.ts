import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { UpkeepJob } from "../../base/metrics/labels.ts";
import type { AnySql, Sql } from "../connection/sql.ts";
import type { jobs } from "../schema/worker.ts";

/** The product of a job: a file or a folder, and its bytes where they are known. */
export interface Made {
  what: string;
  bytes: number | null;
}

/** The last end of a job. */
export type JobState = typeof jobs.$inferSelect;

/** Those that ever ran. */
export async function findJobs(sql: AnySql): Promise<JobState[]> {
  return sql<JobState[]>`select * from sync.jobs order by job`;
}

/**
 * Runs `make` and notes how it ended. A stop is no failure. What was made is good even where that cannot be noted, as in a
 * standby: the log says it then. Throws what `make` throws.
 */
export async function withNote<T extends Made>(
  { sql, clock, log, signal }: { sql: Sql; clock: Clock; log: Logger; signal: AbortSignal },
  job: UpkeepJob,
  make: () => Promise<T>,
): Promise<T> {
  const at = clock.now().toISOString();
  const note = (noted: PromiseLike<unknown>) =>
    Promise.resolve(noted).catch((error: unknown) => {
      log.warn({ job, error: messageOf(error) }, "could not note how the job ended");
    });
  let made: T;
  try {
    made = await make();
  } catch (error) {
    if (!signal.aborted)
      await note(sql`
        insert into sync.jobs as old (job, failed_at, error, failures) values (${job}, ${at}, ${messageOf(error)}, 1)
        on conflict (job) do update set failed_at = coalesce(old.failed_at, excluded.failed_at), error = excluded.error,
          failures = old.failures + 1`);
    throw error;
  }
  await note(sql`
    insert into sync.jobs (job, good_at, what, bytes) values (${job}, ${at}, ${made.what}, ${made.bytes})
    on conflict (job) do update set good_at = excluded.good_at, what = excluded.what, bytes = excluded.bytes,
      failed_at = null, error = null, failures = 0`);
  return made;
}
