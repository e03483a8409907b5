import { sql } from "drizzle-orm";
import { ask, askFor, pick, relation } from "../../report/ask.ts";
import { RESOURCES } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { findServiceName } from "../../store/ledger/mirrored-service.ts";
import { askEach, type Row } from "./answers.ts";
import { html, listsOf, type Markup } from "./html.ts";
import {
  clockWords,
  dayWords,
  HOUR_MS,
  type MarkKind,
  MINUTE_MS,
  mark,
  momentMs,
  momentTag,
  span,
} from "./marks.ts";

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

/** What stands at the end of the header: of which moment the data is. It leads to the page of the mirror. */
export function renderAge(freshness: Freshness, now: Date): Markup {
  const { asOf, isLate, unread, overdue } = freshness;
  if (asOf === null) {
    const held = RESOURCES.length - unread.length;
    const words =
      held === 0
        ? html`<b>No data yet</b> <small>never synced</small>`
        : html`<b>No builds</b> <small>${held} of ${RESOURCES.length} lists</small>`;
    return link("idle", "not known", words);
  }
  if (Number.isNaN(asOf.getTime()))
    return link("warn", "look at the mirror", html`<b>Age not known</b> <small>a clock was wrong</small>`);
  const ago = span(now.getTime() - asOf.getTime());
  const isToday = now.getTime() - asOf.getTime() < 86_400_000;
  const at = `${isToday ? "" : `${dayWords(asOf.getTime(), now)} `}${clockWords(asOf.getTime())}`;
  const isWell = !isLate && unread.length === 0 && overdue.length === 0;
  return link(
    isWell ? "good" : "warn",
    isWell ? "current" : "look at the mirror",
    html`<span class="fresh-as">As of </span><b>${at} UTC</b> <small>${ago} ago</small>`,
  );
}

const link = (kind: MarkKind, word: string, words: Markup): Markup =>
  html`<a class="fresh ${kind}" href="/mirror">${mark(kind, word)}<span>${words}</span></a>`;

/** What limits the figures of every page, above them. Nothing where all is well. */
export function renderLimits(freshness: Freshness, now: Date): Markup {
  const { replicaLagS, isBehind, refreshedAt, failedAt, unread } = freshness;
  // The replica comes first: what it has not replayed yet may be all that is missing.
  const limits: Markup[] = [];
  if (replicaLagS)
    limits.push(html`<strong>This is a replica, which is ${replicaLagS}\u00a0s behind its primary.</strong>`);
  if (unread.length > 0 && !unread.includes("build")) {
    limits.push(html`The mirror is not whole yet: no sync has read ${listsOf(unread)} to the end.`);
  }
  if (isBehind || failedAt !== null) {
    const computed =
      refreshedAt === null
        ? "The figures have not been computed yet"
        : html`The figures were computed at ${momentTag(refreshedAt, now)}`;
    limits.push(
      failedAt === null
        ? html`${computed}: a run has ended since, and they will include it soon;
      <code>docmirror report</code> updates them now.`
        : html`${computed}: the next try failed at ${momentTag(failedAt, now)};
      <code>docmirror doctor</code> says why.`,
    );
  }
  return html`${limits.map((limit) => html`<p class="limit" role="status">${mark("warn", "look here")} <span>${limit}</span></p>`)}`;
}
