import { sql } from "drizzle-orm";
import { ask, askFor, pick, relation } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { findServiceName } from "../../store/ledger/mirrored-service.ts";
import { askEach, type Row } from "./answers.ts";
import { momentMs } from "./marks.ts";
import { type Freshness, type PageMoment, pageMoment } from "./page-moment.ts";

/** The answers are computed right after a run. A reader who comes in between does not need a warning. */
const FOLLOWS_WITHIN_MS = 300_000;
/** Pages are kept while they stay the same, so they show the lag of a replica in steps, from the first on. */
const REPLICA_STEP_S = 10;

/** From the rows of QUESTIONS. */
function readFreshness(
  { lists, looks, ended: [lastRun], newest: [newestRun] }: Record<keyof typeof QUESTIONS, readonly Row[]>,
  now: Date,
  staleAfterMs: number,
): Omit<Freshness, "service"> {
  const builds = lists.find(({ resource }) => resource === "build");
  const isLate = ({ current_through: at, lag_s }: Row) =>
    at !== null && (lag_s === null || now.getTime() - momentMs(at) > staleAfterMs);
  const textOf = (value: unknown) => (value == null ? null : String(value));
  const refreshedAt = textOf(lists[0]?.refreshed_at);
  const finishedAt = textOf(lastRun?.finished_at);
  const isFollowing = finishedAt !== null && now.getTime() - momentMs(finishedAt) < FOLLOWS_WITHIN_MS;
  // A schema that is new has figures of no run, and its first sync reads the builds long before it ends.
  const isCounted = ({ resource, last_good_at, refreshed_run_id, covered_through }: Row) =>
    last_good_at !== null &&
    Number(refreshed_run_id ?? 0) > 0 &&
    (resource !== "build" || covered_through !== null);
  const namesOf = (shown: readonly Row[]) => shown.map(({ resource }) => String(resource));
  const replicaLag = lists[0]?.replica_lag_s ?? null;
  const asOf =
    builds?.current_through == null
      ? null
      : new Date(builds.lag_s === null ? Number.NaN : momentMs(builds.current_through));
  const isStale = builds !== undefined && isLate(builds);
  const usualMs = 1000 * Number(looks[0]?.usual_s ?? Number.NaN);
  return {
    asOf,
    isStale,
    isLate: isStale || (asOf !== null && now.getTime() - asOf.getTime() > 2 * usualMs),
    unread: namesOf(lists.filter(({ last_good_at }) => last_good_at === null)),
    uncounted: namesOf(lists.filter((list) => !isCounted(list))),
    overdue: namesOf(lists.filter(isLate)),
    refreshedAt,
    failedAt: textOf(lists[0]?.refresh_failed_at),
    // Both are texts of Postgres in UTC, so they sort by time.
    isBehind: !isFollowing && finishedAt !== null && (refreshedAt === null || refreshedAt < finishedAt),
    replicaLagS:
      replicaLag === null ? null : Math.floor(Number(replicaLag) / REPLICA_STEP_S) * REPLICA_STEP_S,
    trouble:
      lastRun === undefined || lastRun.status === "succeeded"
        ? null
        : `${lastRun.status}${lastRun.reason === null ? "" : `: ${lastRun.reason}`}`,
    newestRun: newestRun ?? null,
  };
}

const walk = relation("walks");

const QUESTIONS = {
  lists: askFor("freshness"),
  /** The median time between the last looks at the builds; null where there was one. */
  looks: ask("walks")`
select percentile_disc(0.5) within group (order by gap_s) as usual_s
from (
  select extract(epoch from started_at - lag(started_at) over (order by run_id))::float8 as gap_s
  from (
    select ${pick(walk, "run_id", "started_at")} from ${walk}
    where ${walk.resource} = 'build' and ${walk.is_good}
    order by ${walk.run_id} desc limit 11
  ) as look
) as gap`,
  ended: askFor("runs", { limit: 1 }, [sql`${relation("runs").finished_at} is not null`]),
  newest: askFor("runs", { limit: 1 }),
};

/** The moment that a page speaks of, and a text that changes as soon as a page would show something else. */
export async function findMoment(
  tx: TransactionSql,
  now: Date,
  staleAfterMs: number,
): Promise<{ moment: PageMoment; revision: string }> {
  const [found, service] = await Promise.all([askEach(tx, QUESTIONS), findServiceName(tx)]);
  const freshness = { service, ...readFreshness(found, now, staleAfterMs) };
  const [newest] = found.newest;
  // The lag and the counts of a run under way grow all the time. They are no reason to render a page again, but in
  // the first sync, where they are all that there is.
  const still = found.lists.map((row) => ({ ...row, lag_s: null, replica_lag_s: null }));
  const { uncounted, isStale, isLate, isBehind, replicaLagS } = freshness;
  const progress = uncounted.includes("build") ? newest?.records : null;
  // Ages are in minutes.
  const minute = now.toISOString().slice(0, 16);
  const revision = [
    minute,
    service,
    still,
    newest?.run_id,
    newest?.status,
    isStale,
    isLate,
    isBehind,
    replicaLagS,
    progress,
  ];
  return { moment: pageMoment(freshness, now), revision: JSON.stringify(revision) };
}
