import { html } from "hono/html";
import { formatSpan } from "../builds/format-span.ts";
import type { Row } from "./cells.ts";
import { type Markup, moment } from "./words.ts";

/** A nightly sync runs once a day. Two more hours allow for a slow night. */
const STALE_AFTER_S = 26 * 3600;

/** The answers are computed right after a run. A reader who comes in between does not need a warning. */
const FOLLOWS_WITHIN_MS = 300_000;

/** Pages are kept while they stay the same, so they show the lag of a replica in steps, from the first on. */
const REPLICA_STEP_S = 10;

/** How fresh the data of a page is. */
export interface Freshness {
  /**
   * The start of the last good walk of the list that was read longest ago. The mirror has what happened
   * before. Null when a list was never read well.
   */
  readonly currentThrough: string | null;
  /** The lists that were never read well. */
  readonly unread: readonly string[];
  readonly isStale: boolean;
  readonly lagS: number;
  /** When the answers were computed. Null when they never were. */
  readonly refreshedAt: string | null;
  /** Whether the answers are still older than the last run, some minutes after its end. */
  readonly isBehind: boolean;
  /**
   * How far the replica that is read lags behind its primary, in whole steps of 10 s; null where no replica is
   * read, or where that is not known.
   */
  readonly replicaLagS: number | null;
}

/** `freshness` holds the rows of `report.freshness`. `lastRun` is the newest run that has ended. */
export function readFreshness(freshness: readonly Row[], lastRun: Row | undefined, now: Date): Freshness {
  const currentThrough = textOf(freshness[0]?.mirror_current_through);
  // The lag of a list is unknown where a clock was wrong. Then the mirror is stale.
  const lagS = Math.max(
    0,
    ...freshness.map(({ lag_s }) => (lag_s === null ? Number.POSITIVE_INFINITY : Number(lag_s))),
  );
  const refreshedAt = textOf(freshness[0]?.refreshed_at);
  const finishedAt = textOf(lastRun?.finished_at);
  const replicaLag = freshness[0]?.replica_lag_s ?? null;
  const isFollowing =
    finishedAt !== null &&
    now.getTime() - Date.parse(`${finishedAt.replace(" ", "T")}:00`) < FOLLOWS_WITHIN_MS;
  return {
    currentThrough,
    unread: freshness
      .filter(({ last_good_at }) => last_good_at === null)
      .map(({ resource }) => String(resource)),
    isStale: lagS > STALE_AFTER_S,
    lagS,
    refreshedAt,
    // Both are texts of Postgres in UTC, so they sort by time.
    isBehind: !isFollowing && finishedAt !== null && (refreshedAt === null || refreshedAt < finishedAt),
    replicaLagS:
      replicaLag === null ? null : Math.floor(Number(replicaLag) / REPLICA_STEP_S) * REPLICA_STEP_S,
  };
}

/** The first line of every page of figures. */
export function renderBanner(freshness: Freshness): Markup {
  const { currentThrough, unread, isStale, lagS, refreshedAt, isBehind, replicaLagS } = freshness;
  // It comes first: what a replica has not replayed yet may be all that is missing.
  const replica = replicaLagS
    ? html` <strong>⚠ This is a replica, which is ${formatSpan(replicaLagS * 1000)} behind its primary.</strong>`
    : "";
  if (unread.length > 0) {
    const lists =
      unread.length === 1
        ? `the list of ${unread[0]}s`
        : `the lists of ${unread.map((name) => `${name}s`).join(", ")}`;
    const [sentence, rest] = unread.includes("build")
      ? ["There is nothing to report yet:", ` no sync has read ${lists} to the end.`]
      : ["The mirror is not whole yet:", ` no sync has read ${lists} to the end.`];
    return html`<div class="banner warning" role="status"><p><strong>${sentence}</strong>${rest} <code>docmirror sync</code> does that, and <code>docmirror worker</code> does it every night.${replica}</p></div>`;
  }
  if (currentThrough === null) throw new Error("lists that were all read must have a time");
  const age = Number.isFinite(lagS)
    ? `That is ${formatSpan(lagS * 1000)} ago:`
    : "It is unknown how long ago that is, because a clock was wrong:";
  const stale = isStale
    ? html` <strong>⚠ ${age}</strong> the last syncs did not read every list to its end; <code>docmirror status</code> shows more.`
    : "";
  const behind = isBehind
    ? html` ${refreshedAt === null ? "The figures have not been computed yet:" : html`The figures were computed at ${moment(refreshedAt)}:`} a run has ended since, and they will include it soon; <code>docmirror report</code> updates them now.`
    : "";
  return html`<div class="banner${isStale || isBehind || replica ? " warning" : ""}" role="status"><p>Data current through <strong>${moment(currentThrough)}</strong> UTC.${replica}${stale}${behind}</p></div>`;
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
