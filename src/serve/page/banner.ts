import { html } from "hono/html";
import { formatSpan } from "../../builds/format-span.ts";
import type { Row } from "./cells.ts";
import { type Markup, moment } from "./words.ts";

/** A nightly sync leaves a day behind it; two hours more are a night that took long. */
const STALE_AFTER_S = 26 * 3600;

/** A run's answers are computed right behind it; who looks in between need not be told. */
const FOLLOWS_WITHIN_MS = 300_000;

/** How current what a page shows is. */
export interface Currency {
  /** When the newest good walk of the builds began: what happened before is here. Null where none came to a good end. */
  readonly currentThrough: string | null;
  readonly isStale: boolean;
  readonly lagS: number;
  /** When the answers were computed; null where they never were. */
  readonly refreshedAt: string | null;
  /** Whether the answers are still older than the last run that ended, some minutes after its end. */
  readonly isBehind: boolean;
}

/** `builds` is the row of the builds in `report.freshness`, `lastRun` the newest run that ended. */
export function readCurrency(builds: Row | undefined, lastRun: Row | undefined, now: Date): Currency {
  const lagS = Number(builds?.lag_s ?? 0);
  const refreshedAt = textOf(builds?.refreshed_at);
  const finishedAt = textOf(lastRun?.finished_at);
  const isFollowing =
    finishedAt !== null &&
    now.getTime() - Date.parse(`${finishedAt.replace(" ", "T")}:00`) < FOLLOWS_WITHIN_MS;
  return {
    currentThrough: textOf(builds?.current_through),
    isStale: lagS > STALE_AFTER_S,
    lagS,
    refreshedAt,
    // Both are Postgres' texts in UTC, which sort as the moments do.
    isBehind: !isFollowing && finishedAt !== null && (refreshedAt === null || refreshedAt < finishedAt),
  };
}

/** The line that every page of figures begins with. */
export function renderBanner({ currentThrough, isStale, lagS, refreshedAt, isBehind }: Currency): Markup {
  if (currentThrough === null) {
    return html`<div class="banner warning" role="status"><p><strong>There is nothing to report yet:</strong> no sync has read the list of builds to its end. <code>docmirror sync</code> does, and <code>docmirror worker</code> does so every night.</p></div>`;
  }
  const stale = isStale
    ? html` <strong>⚠ That is ${formatSpan(lagS * 1000)} ago:</strong> the last syncs did not come to a good end; <code>docmirror status</code> tells more.`
    : "";
  const behind = isBehind
    ? html` ${refreshedAt === null ? "The figures have not been computed yet:" : html`The figures are those of ${moment(refreshedAt)}:`} a run has ended since, and they follow it soon; <code>docmirror report</code> brings them up to date.`
    : "";
  return html`<div class="banner${isStale || isBehind ? " warning" : ""}" role="status"><p>Data current through <strong>${moment(currentThrough)}</strong> UTC.${stale}${behind}</p></div>`;
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
