import { RESOURCES } from "../resources/resources.ts";
import { html, listsOf, type Markup } from "./parts/html.ts";
import { clockWords, dayWords, type MarkKind, mark, momentTag, span } from "./parts/marks.ts";
import type { Freshness } from "./parts/page-moment.ts";

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
