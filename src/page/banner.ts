import { html } from "hono/html";
import { formatSpan } from "../builds/format-span.ts";
import type { Row } from "./cells.ts";
import { type Markup, moment } from "./words.ts";

/** A nightly sync leaves a day behind it; two hours more are a night that took long. */
const STALE_AFTER_S = 26 * 3600;

/** A run's answers are computed right behind it; who looks in between need not be told. */
const FOLLOWS_WITHIN_MS = 300_000;

/** How current what a page shows is. */
export interface Freshness {
  /** When the last good walk began of the list that was read longest ago: what happened before is here. Null where a list never was. */
  readonly currentThrough: string | null;
  /** The lists that were never read well. */
  readonly unread: readonly string[];
  readonly isStale: boolean;
  readonly lagS: number;
  /** When the answers were computed; null where they never were. */
  readonly refreshedAt: string | null;
  /** Whether the answers are still older than the last run that ended, some minutes after its end. */
  readonly isBehind: boolean;
}

/** `freshness` are the rows of `report.freshness`, `lastRun` is the newest run that ended. */
export function readFreshness(freshness: readonly Row[], lastRun: Row | undefined, now: Date): Freshness {
  const currentThrough = textOf(freshness[0]?.mirror_current_through);
  // The lag of a list is not known where a clock was wrong. Then the mirror is stale.
  const lagS = Math.max(
    0,
    ...freshness.map(({ lag_s }) => (lag_s === null ? Number.POSITIVE_INFINITY : Number(lag_s))),
  );
  const refreshedAt = textOf(freshness[0]?.refreshed_at);
  const finishedAt = textOf(lastRun?.finished_at);
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
    // Both are Postgres' texts in UTC, which sort as the moments do.
    isBehind: !isFollowing && finishedAt !== null && (refreshedAt === null || refreshedAt < finishedAt),
  };
}

/** The line that every page of figures begins with. */
export function renderBanner(freshness: Freshness): Markup {
  const { currentThrough, unread, isStale, lagS, refreshedAt, isBehind } = freshness;
  if (unread.length > 0) {
    const lists =
      unread.length === 1
        ? `the list of ${unread[0]}s`
        : `the lists of ${unread.map((name) => `${name}s`).join(", ")}`;
    const [sentence, rest] = unread.includes("build")
      ? ["There is nothing to report yet:", ` no sync has read ${lists} to the end.`]
      : ["The mirror is not whole yet:", ` no sync has read ${lists} to the end.`];
    return html`<div class="banner warning" role="status"><p><strong>${sentence}</strong>${rest} <code>docmirror sync</code> does, and <code>docmirror worker</code> does so every night.</p></div>`;
  }
  if (currentThrough === null) throw new Error("lists that were all read must have a time");
  const age = Number.isFinite(lagS)
    ? `That is ${formatSpan(lagS * 1000)} ago:`
    : "Nobody knows how long ago that is, since a clock was wrong:";
  const stale = isStale
    ? html` <strong>⚠ ${age}</strong> the last syncs did not read every list to its end; <code>docmirror status</code> says more.`
    : "";
  const behind = isBehind
    ? html` ${refreshedAt === null ? "The figures have not been computed yet:" : html`The figures are those of ${moment(refreshedAt)}:`} a run has ended since, and they follow it soon; <code>docmirror report</code> brings them up to date.`
    : "";
  return html`<div class="banner${isStale || isBehind ? " warning" : ""}" role="status"><p>Data current through <strong>${moment(currentThrough)}</strong> UTC.${stale}${behind}</p></div>`;
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
