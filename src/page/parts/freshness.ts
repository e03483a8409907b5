import { sql } from "drizzle-orm";
import { askFor } from "../../report/ask.ts";
import { relation } from "../../report/relation.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { MINUTE_MS, momentMs } from "./age.ts";
import { askEach, type Row } from "./block.ts";

/** How fresh the data of a page is. */
export interface Freshness {
  /**
   * When the last good walk of the builds began: the mirror has what happened before. Null when no walk of them
   * ended well, an invalid date where a wrong clock dated it.
   */
  readonly asOf: Date | null;
  /** Whether that is so long ago, or unknown for a wrong clock, that nothing can be said of now. */
  readonly isStale: boolean;
  /** The lists that were never read well. */
  readonly unread: readonly string[];
  /** The lists that the figures know nothing of: never read well, or not before the figures were computed. */
  readonly uncounted: readonly string[];
  /** The lists that were read well, but not lately. */
  readonly overdue: readonly string[];
  /** When the answers were computed, as Postgres prints it. Null when they never were. */
  readonly refreshedAt: string | null;
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
  readonly newestRun: Row | null;
}

/** The moment that a page speaks of. */
export interface PageMoment {
  /** The minute of the request: ages count to it. */
  readonly now: Date;
  /** What "now" means: `now`, or the moment of the data where that is old. Spans such as 24 hours end there. */
  readonly at: Date;
  /** Null stands for: no walk of the builds has ended well, so nothing is known. */
  readonly freshness: Freshness;
}

/** The minute of a request: pages and their files of one minute speak of the same moment. */
export const minuteOf = (moment: Date): Date =>
  new Date(Math.floor(moment.getTime() / MINUTE_MS) * MINUTE_MS);

/** The moment that a page speaks of, for a reader at `now`. */
export function pageMoment(freshness: Freshness, now: Date): PageMoment {
  const { asOf, isStale } = freshness;
  return { now, at: isStale && asOf !== null && !Number.isNaN(asOf.getTime()) ? asOf : now, freshness };
}

/** A nightly sync runs once a day. Two more hours allow for a slow night. */
const STALE_AFTER_MS = 26 * 3_600_000;
/** The answers are computed right after a run. A reader who comes in between does not need a warning. */
const FOLLOWS_WITHIN_MS = 300_000;
/** Pages are kept while they stay the same, so they show the lag of a replica in steps, from the first on. */
const REPLICA_STEP_S = 10;

/** `lists` holds the rows of `report.freshness`; `lastRun` is the newest run that has ended. */
function readFreshness(
  lists: readonly Row[],
  lastRun: Row | undefined,
  newestRun: Row | undefined,
  now: Date,
): Freshness {
  const builds = lists.find(({ resource }) => resource === "build");
  const isLate = ({ current_through: at, lag_s }: Row) =>
    at !== null && (lag_s === null || now.getTime() - momentMs(at) > STALE_AFTER_MS);
  const refreshedAt = textOf(lists[0]?.refreshed_at);
  const finishedAt = textOf(lastRun?.finished_at);
  const isFollowing = finishedAt !== null && now.getTime() - momentMs(finishedAt) < FOLLOWS_WITHIN_MS;
  // A schema that is new has figures of no run, and its first sync reads the builds long before it ends.
  const isCounted = ({ resource, last_good_at, refreshed_run_id, covered_through }: Row) =>
    last_good_at !== null &&
    Number(refreshed_run_id ?? 0) > 0 &&
    (resource !== "build" || covered_through !== null);
  const uncounted = lists.filter((list) => !isCounted(list)).map(({ resource }) => String(resource));
  const replicaLag = lists[0]?.replica_lag_s ?? null;
  const asOf =
    builds?.current_through == null
      ? null
      : new Date(builds.lag_s === null ? Number.NaN : momentMs(builds.current_through));
  return {
    asOf,
    isStale: builds !== undefined && isLate(builds),
    unread: lists.filter(({ last_good_at }) => last_good_at === null).map(({ resource }) => String(resource)),
    uncounted,
    overdue: lists.filter(isLate).map(({ resource }) => String(resource)),
    refreshedAt,
    // Both are texts of Postgres in UTC, so they sort by time.
    isBehind: !isFollowing && finishedAt !== null && (refreshedAt === null || refreshedAt < finishedAt),
    replicaLagS:
      replicaLag === null ? null : Math.floor(Number(replicaLag) / REPLICA_STEP_S) * REPLICA_STEP_S,
    trouble:
      lastRun === undefined || lastRun.status === "succeeded"
        ? null
        : `${lastRun.status}${lastRun.error === null ? "" : `: ${lastRun.error}`}`,
    newestRun: newestRun ?? null,
  };
}

const QUESTIONS = {
  lists: askFor("freshness"),
  ended: askFor("runs", { limit: 1 }, [sql`${relation("runs").finished_at} is not null`]),
  newest: askFor("runs", { limit: 1 }),
};

/** How fresh the figures are, and a text that changes as soon as a page would show something else. */
export async function findFreshness(
  tx: TransactionSql,
  now: Date,
): Promise<{ freshness: Freshness; revision: string }> {
  const {
    lists,
    ended: [run],
    newest: [newest],
  } = await askEach(tx, QUESTIONS);
  const freshness = readFreshness(lists, run, newest, now);
  // The lag and the counts of a run under way grow all the time. They are no reason to render a page again, but in
  // the first sync, where they are all that there is.
  const still = lists.map((row) => ({ ...row, lag_s: null, replica_lag_s: null }));
  const { uncounted, isStale, isBehind, replicaLagS } = freshness;
  const progress = uncounted.includes("build") ? newest?.records : null;
  // Ages are in minutes.
  const minute = now.toISOString().slice(0, 16);
  const revision = [minute, still, newest?.run_id, newest?.status, isStale, isBehind, replicaLagS, progress];
  return { freshness, revision: JSON.stringify(revision) };
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
