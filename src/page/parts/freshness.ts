import { sql } from "drizzle-orm";
import { askFor, relation } from "../../report/ask.ts";
import { RESOURCES, type Resource } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { findServiceName } from "../../store/ledger/mirrored-service.ts";
import { type Asks, askEach, countIn, type Found, question } from "./answers.ts";
import { html, listsOf, type Markup } from "./html.ts";
import { ago, HOUR_MS, type MarkKind, MINUTE_MS, mark, momentMs, momentTag, when } from "./marks.ts";

/** The freshness of the data of a page. */
export interface Freshness {
  /** The host of the service, or `demo`; null before the first sync. */
  readonly service: string | null;
  /**
   * The beginning of the last good walk of the builds: the mirror has what happened before. Null when no walk of them
   * ended well, an invalid date where a wrong clock dated it.
   */
  readonly asOf: Date | null;
  /**
   * That is so long ago, or unknown for a wrong clock, that nothing can be said of now: longer than a list may be old, or than
   * ten usual times between looks and 15 minutes. All pages ask by this one moment.
   */
  readonly isStale: boolean;
  /** The lists that were never read well. */
  readonly unread: readonly Resource[];
  /** The lists that the figures know nothing of: never read well, or not before the figures were computed. */
  readonly uncounted: readonly Resource[];
  /** The lists that were read well, but not lately; the builds among them exactly where they are stale. */
  readonly overdue: readonly Resource[];
  /** The moment when the answers were computed, as Postgres prints it. Null when they never were. */
  readonly refreshedAt: string | null;
  /** When computing them failed last, as Postgres prints it. Null once it has gone well. */
  readonly failedAt: string | null;
  /** The answers are still older than the last run, some minutes after its end. */
  readonly isBehind: boolean;
  /**
   * The lag of the replica that is read behind its primary, in whole steps of 10 s; null where no replica is
   * read, or where that is not known.
   */
  readonly replicaLagS: number | null;
  /** The end of the newest run that has ended, where it did not succeed. */
  readonly trouble: string | null;
}

/** The moment that a page speaks of. */
export interface PageMoment {
  /** The minute of the request: ages count to it. */
  readonly now: Date;
  /** The last look at the builds: spans such as 24 hours end there, because nobody knows what came since. */
  readonly at: Date;
  /** That look is new, so that the span is "the last 24 hours"; else words name its end, and nothing is said of now. */
  readonly isNow: boolean;
  /** The page is a file, which is read long after it was written, so that it is never of now. @default false */
  readonly isFile?: boolean;
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
  const { asOf, isStale } = freshness;
  const at = asOf === null || Number.isNaN(asOf.getTime()) ? now : asOf;
  return { now, at, isNow: !isStale && now.getTime() - at.getTime() < HOUR_MS, freshness };
}

/** What is good may be called so: not for ever in a file, nor long after the last look. */
export const mayBeGood = ({ isFile, freshness }: PageMoment): boolean => !isFile && !freshness.isStale;

/** A row of `report.freshness`: a list, with what is the same for all of them. */
export interface FreshList {
  readonly resource: Resource;
  readonly last_good_at: string | null;
  readonly current_through: string | null;
  readonly lag_s: number | null;
  readonly last_walk: string | null;
  readonly is_whole: boolean | null;
  readonly records: number | null;
  readonly deleted_records: number | null;
  readonly quarantined: number | null;
  readonly refreshed_at: string | null;
  readonly refresh_failed_at: string | null;
  /** The service counts so many more records than are here. */
  readonly deficit: number | null;
  readonly mirror_current_through: string | null;
  readonly replica_lag_s: number | null;
  readonly facts_checked_at: string | null;
  readonly facts_repaired: number | null;
  readonly covered_through: string | null;
  readonly builds_dated_ahead: number | null;
  readonly refreshed_run_id: number | null;
  readonly read_since: string | null;
  readonly held_records: number | null;
  readonly held_since: string | null;
  readonly held_until: string | null;
  readonly checked: number | null;
  readonly checked_equal: number | null;
  readonly check_nights: number | null;
  readonly wrong: number | null;
}

export const askForLists = (): Asks<FreshList> => askFor("freshness");

/** A row of `report.runs`. */
interface Run {
  readonly run_id: number;
  readonly status: string;
  readonly reason: string | null;
  readonly finished_at: string | null;
  readonly records: number | null;
}

/** The answers are computed right after a run. A reader who comes in between does not need a warning. */
const FOLLOWS_WITHIN_MS = 300_000;
/** A mirror that looks every minute may miss some looks, and is not old after the last round of a sync. */
const MISSED_LOOKS = 10;
const LEAST_STALE_MS = 15 * MINUTE_MS;
/** Pages are kept while they stay the same, so they show the lag of a replica in steps, from the first on. */
const REPLICA_STEP_S = 10;

function readFreshness(
  { lists, looks: [looks], ended: [lastRun] }: Found<typeof QUESTIONS>,
  now: Date,
  staleAfterMs: number,
): Omit<Freshness, "service"> {
  const [first] = lists;
  const builds = lists.find(({ resource }) => resource === "build");
  const usualMs = 1000 * countIn(looks, "usual_s");
  const mostMs = ({ resource }: FreshList) =>
    resource === "build" && usualMs > 0
      ? Math.min(staleAfterMs, Math.max(LEAST_STALE_MS, MISSED_LOOKS * usualMs))
      : staleAfterMs;
  const isLate = (list: FreshList) =>
    list.current_through !== null &&
    (list.lag_s === null || now.getTime() - momentMs(list.current_through) > mostMs(list));
  const refreshedAt = first?.refreshed_at ?? null;
  const finishedAt = lastRun?.finished_at ?? null;
  const isFollowing = finishedAt !== null && now.getTime() - momentMs(finishedAt) < FOLLOWS_WITHIN_MS;
  // A schema that is new has figures of no run, and its first sync reads the builds long before it ends.
  const isCounted = ({ resource, last_good_at, refreshed_run_id, covered_through }: FreshList) =>
    last_good_at !== null &&
    (refreshed_run_id ?? 0) > 0 &&
    (resource !== "build" || covered_through !== null);
  const namesOf = (is: (list: FreshList) => boolean) => lists.filter(is).map(({ resource }) => resource);
  const replicaLagS = first?.replica_lag_s ?? null;
  const through = builds?.current_through ?? null;
  const asOf = through === null ? null : new Date(builds?.lag_s == null ? Number.NaN : momentMs(through));
  return {
    asOf,
    isStale: builds !== undefined && isLate(builds),
    unread: namesOf(({ last_good_at }) => last_good_at === null),
    uncounted: namesOf((list) => !isCounted(list)),
    overdue: namesOf(isLate),
    refreshedAt,
    failedAt: first?.refresh_failed_at ?? null,
    // Both are texts of Postgres in UTC, so they sort by time.
    isBehind: !isFollowing && finishedAt !== null && (refreshedAt === null || refreshedAt < finishedAt),
    replicaLagS: replicaLagS && Math.floor(replicaLagS / REPLICA_STEP_S) * REPLICA_STEP_S,
    trouble:
      lastRun === undefined || lastRun.status === "succeeded"
        ? null
        : `${lastRun.status}${lastRun.reason === null ? "" : `: ${lastRun.reason}`}`,
  };
}

/** The median time between the last looks at the builds; null where there was one. */
const USUAL_GAP = question<{ readonly usual_s: number | null }>("usual_gap", import.meta.url)();
const ENDED_RUN: Asks<Run> = askFor("runs", { limit: 1 }, [sql`${relation("runs").finished_at} is not null`]);
const NEWEST_RUN: Asks<Run> = askFor("runs", { limit: 1 });
const QUESTIONS = { lists: askForLists(), looks: USUAL_GAP, ended: ENDED_RUN, newest: NEWEST_RUN };

export interface FoundMoment {
  readonly moment: PageMoment;
  /** Changes as soon as a page would show something else. */
  readonly revision: string;
}

/** The moment that a page speaks of at `now`. */
export async function findMoment(tx: TransactionSql, now: Date, staleAfterMs: number): Promise<FoundMoment> {
  const [found, service] = await Promise.all([askEach(tx, QUESTIONS), findServiceName(tx)]);
  const freshness = { service, ...readFreshness(found, now, staleAfterMs) };
  const [newest] = found.newest;
  // The lag and the counts of a run under way grow all the time. They are no reason to render a page again, but in
  // the first sync, where they are all that there is.
  const still = found.lists.map((row) => ({ ...row, lag_s: null, replica_lag_s: null }));
  const progress = freshness.uncounted.includes("build") ? newest?.records : null;
  // Ages are in minutes.
  const minute = now.toISOString().slice(0, 16);
  const revision = JSON.stringify([minute, freshness, still, newest?.run_id, newest?.status, progress]);
  return { moment: pageMoment(freshness, now), revision };
}

/** The end of the header: of which moment the data is. It leads to the page of the mirror. Nothing in a file is current for long. */
export function renderAge({ freshness: { asOf, unread, overdue }, now, isFile }: PageMoment): Markup {
  if (asOf === null) {
    const held = RESOURCES.length - unread.length;
    return held === 0
      ? link("idle", "not known", "No data yet", "never synced")
      : link("idle", "not known", "No builds", `${held} of ${RESOURCES.length} lists`);
  }
  const ms = asOf.getTime();
  if (Number.isNaN(ms)) return link("warn", "look at the mirror", "Age not known", "a clock was wrong");
  const at = `${when(ms, now)} UTC`;
  const as = html`<span class="fresh-as">As of </span>`;
  const isWell = unread.length === 0 && overdue.length === 0;
  if (!isWell) return link("warn", "look at the mirror", at, isFile ? writtenWords(now) : ago(ms, now), as);
  return isFile
    ? link("flat", "a file", at, writtenWords(now), as)
    : link("good", "current", at, ago(ms, now), as);
}

/** Says of a file that it stays as it is. */
export const writtenWords = (now: Date): string => `written ${when(now, now)} UTC; does not renew itself`;

const link = (
  kind: MarkKind,
  word: string,
  strong: string,
  small: Markup | string | null,
  before?: Markup,
): Markup =>
  html`<a class="fresh ${kind}" href="/mirror">${mark(kind, word)}<span>${before}<b>${strong}</b> <small>${small}</small></span></a>`;

/** The limits of the figures of every page, above them. Nothing where all is well. */
export function renderLimits(
  { replicaLagS, isBehind, refreshedAt, failedAt, unread }: Freshness,
  now: Date,
): Markup {
  // The replica comes first: what it has not replayed yet may be all that is missing.
  const limits = [
    replicaLagS
      ? html`<strong>This is a replica, which is ${replicaLagS}\u00a0s behind its primary.</strong>`
      : [],
    unread.length > 0 && !unread.includes("build")
      ? html`The mirror is not whole yet: no sync has read ${listsOf(unread)} to the end.`
      : [],
    isBehind || failedAt !== null
      ? html`${
          refreshedAt === null
            ? "The figures have not been computed yet"
            : html`The figures were computed at ${momentTag(refreshedAt, now)}`
        }: ${
          failedAt === null
            ? html`a run has ended since, and they will include it soon;
      <code>docmirror report</code> updates them now.`
            : html`the next try failed at ${momentTag(failedAt, now)};
      <code>docmirror doctor</code> says why.`
        }`
      : [],
  ].flat();
  return html`${limits.map((limit) => html`<p class="limit" role="status">${mark("warn", "look here")} <span>${limit}</span></p>`)}`;
}
