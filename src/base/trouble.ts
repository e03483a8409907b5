import type { Clock } from "./clock.ts";

const HOUR_MS = 3_600_000;
/** Work that fails every now and then is not well because it went well once. */
const WELL_AFTER_MS = 240_000;
/** Other causes within an hour are counted only. */
const MOST_CAUSES = 8;

/** The failures since all was well. */
interface Failures {
  failures: number;
  since: string;
}

export type Trouble = ReturnType<typeof createTrouble>;

/**
 * Decides whether the log says that something failed: a cause that is new, and one that lasts once an hour. All others are
 * counted. A cause is its words without their numbers. Facts of a line are empty for the first failure.
 */
export function createTrouble(clock: Pick<Clock, "now">, { wellAfterMs = WELL_AFTER_MS } = {}) {
  const causes = new Set<string>();
  let failures = 0;
  let firstMs = 0;
  let lastMs = 0;
  let saidMs = 0;

  const facts = (): Failures => ({ failures, since: new Date(firstMs).toISOString() });

  return {
    failed(why: string): { isNews: boolean; again: Failures | object } {
      lastMs = clock.now().getTime();
      if (failures === 0) firstMs = lastMs;
      failures += 1;
      const cause = why.replaceAll(/\d+/g, "0");
      // A clock that is set back must not silence the log.
      const isLong = Math.abs(lastMs - saidMs) >= HOUR_MS;
      if (isLong && causes.size >= MOST_CAUSES) causes.clear();
      const isNews = isLong || (!causes.has(cause) && causes.size < MOST_CAUSES);
      causes.add(cause);
      if (isNews) saidMs = lastMs;
      return { isNews, again: failures > 1 ? facts() : {} };
    },
    /** The trouble that is over, where all is well again for some minutes; else null. */
    over(): Failures | null {
      if (failures === 0 || Math.abs(clock.now().getTime() - lastMs) < wellAfterMs) return null;
      const ended = facts();
      causes.clear();
      failures = 0;
      saidMs = 0;
      return ended;
    },
  };
}
