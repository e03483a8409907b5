import { HOUR_MS, MINUTE_MS } from "./marks.ts";

/** How fresh the data of a page is. */
export interface Freshness {
  /** The host of the service, or `demo`; null before the first sync. */
  readonly service: string | null;
  /**
   * When the last good walk of the builds began: the mirror has what happened before. Null when no walk of them
   * ended well, an invalid date where a wrong clock dated it.
   */
  readonly asOf: Date | null;
  /** Whether that is so long ago, or unknown for a wrong clock, that nothing can be said of now. */
  readonly isStale: boolean;
  /** Whether that is stale, or longer ago than twice the usual time between looks at the builds. */
  readonly isLate: boolean;
  /** The lists that were never read well. */
  readonly unread: readonly string[];
  /** The lists that the figures know nothing of: never read well, or not before the figures were computed. */
  readonly uncounted: readonly string[];
  /** The lists that were read well, but not lately. */
  readonly overdue: readonly string[];
  /** When the answers were computed, as Postgres prints it. Null when they never were. */
  readonly refreshedAt: string | null;
  /** When computing them failed last, as Postgres prints it. Null once it has gone well. */
  readonly failedAt: string | null;
  /** Whether the answers are still older than the last run, some minutes after its end. */
  readonly isBehind: boolean;
  /**
   * How far the replica that is read lags behind its primary, in whole steps of 10 s; null where no replica is
   * read, or where that is not known.
   */
  readonly replicaLagS: number | null;
  /** What ended the newest run of all that have ended, where that run did not succeed. */
  readonly trouble: string | null;
  /** The newest run, ended or not; null where none has begun. */
  readonly newestRun: Readonly<Record<string, unknown>> | null;
}

/** The moment that a page speaks of. */
export interface PageMoment {
  /** The minute of the request: ages count to it. */
  readonly now: Date;
  /** The last look at the builds: spans such as 24 hours end there, because nobody knows what came since. */
  readonly at: Date;
  /** Whether that look is new, so that the span is "the last 24 hours"; else words name its end. */
  readonly isNow: boolean;
  /** The UTC day whose end it is, where the reader chose one of the past: as 2026-11-03, and in words. */
  readonly day?: { readonly text: string; readonly name: string };
  /** Null stands for: no walk of the builds has ended well, so nothing is known. */
  readonly freshness: Freshness;
}

/** The minute of a request: pages and their files of one minute speak of the same moment. */
export const minuteOf = (moment: Date): Date =>
  new Date(Math.floor(moment.getTime() / MINUTE_MS) * MINUTE_MS);

/**
 * The moment that a page or a feed speaks of, for a reader at `now`. Nothing else ends a span at the reader's clock:
 * a mirror that nobody synced would look calmer by the hour. Without a known look it is `now`.
 */
export function pageMoment(freshness: Freshness, now: Date): PageMoment {
  const { asOf, isLate } = freshness;
  const at = asOf === null || Number.isNaN(asOf.getTime()) ? now : asOf;
  return { now, at, isNow: at === now || (!isLate && now.getTime() - at.getTime() < HOUR_MS), freshness };
}
