import { sql } from "drizzle-orm";
import { inline } from "../../report/ask.ts";
import { asIso } from "../../report/read-answer.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach, question } from "../parts/answers.ts";
import type { Freshness, PageMoment } from "../parts/freshness.ts";
import { html, type Markup, shorten } from "../parts/html.ts";
import { buildHref, feedHref, projectHref, withQuery } from "../parts/links.ts";
import { DAY_MS } from "../parts/marks.ts";

/** A series of builds that broke or was fixed, or whose version was deleted while it failed; or a break that the service took back. */
interface FeedEvent {
  readonly kind: "broke" | "fixed" | "deleted" | "withdrawn";
  /** The first build that failed, or failed no longer; or the one that succeeded again. */
  readonly build_id: string;
  /** The moment of the trigger of that build, of the deletion, or when the mirror saw that it was taken back. */
  readonly at: string;
  readonly project_slug: string;
  readonly version_slug: string;
  readonly type: string;
  /** The failures in a row, so far; null where none is left. */
  readonly failures: number | null;
  readonly broke_at: string | null;
  /** The error line of a build that failed. */
  readonly error_line: string | null;
}

const MOST_EVENTS = 50;

const FEED_EVENTS = question<FeedEvent>("feed_events", import.meta.url);

/**
 * The newest breaks and their ends, newest first, of one project or of all that the service still has; up to the end of a past day
 * that was chosen. Dates beyond a day after the moment of the data come from a wrong clock and are left out. A failure that the service
 * took back is no break any more, so its entry says that: for 15 days, because readers have the other one.
 */
export async function findFeedEvents(
  tx: TransactionSql,
  { now, at, day }: PageMoment,
  project?: string,
): Promise<readonly FeedEvent[]> {
  const last = day === undefined ? new Date(at.getTime() + DAY_MS) : now;
  const isAsked = project === undefined ? sql`true` : sql`streak.project_slug = ${project}`;
  const { events } = await askEach(tx, {
    events: FEED_EVENTS({ last: last.toISOString(), isAsked, most: inline(MOST_EVENTS) }),
  });
  return events;
}

/** Ids name the service, and not the host of these pages: readers see no entry twice, nor those of two mirrors as one (RFC 4151). */
const idOf = (service: string | null, rest: string): string =>
  `tag:docmirror,2026:${service === null ? "" : `${xmlText(service)}/`}${rest}`;
const NEVER = "1970-01-01 00:00:00+00";

/** Breaks and fixes of a project, or of all, as an Atom feed (RFC 4287). One without events is as old as the figures. */
export async function renderFeed(
  origin: string,
  { project, day }: { project?: string | undefined; day?: string | undefined },
  events: readonly FeedEvent[],
  { refreshedAt, service }: Freshness,
): Promise<string> {
  const name = project === undefined ? "all projects" : xmlText(project);
  const page = project === undefined ? withQuery("/", { day }) : projectHref(project);
  const id = `${project === undefined ? "feed" : `project/${segment(project)}/feed`}${day === undefined ? "" : `/${day}`}`;
  const feed = await html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>${idOf(service, id)}</id>
<title>Breaks and fixes of ${name}${service === null ? "" : `, ${xmlText(service)}`}${day && `, up to ${day}`}</title>
<subtitle>Documentation builds that began to fail, and those that succeed again</subtitle>
<updated>${asIso(events[0]?.at ?? refreshedAt ?? NEVER)}</updated>
<author><name>docmirror</name></author>
<link rel="self" type="application/atom+xml" href="${origin}${withQuery(feedHref(project), { day })}"/>
<link rel="alternate" type="text/html" href="${origin}${page}"/>
${events.map((event) => renderEntry(event, origin, service))}</feed>
`;
  return feed.toString();
}

function renderEntry(event: FeedEvent, origin: string, service: string | null): Markup {
  const series = `${xmlText(event.project_slug)}: ${xmlText(event.type)} of ${xmlText(event.version_slug)}`;
  return html`<entry>
<id>${idOf(service, `build/${segment(event.build_id)}/${event.kind}`)}</id>
<title>${series} ${KINDS[event.kind].did}</title>
<updated>${asIso(event.at)}</updated>
<link rel="alternate" type="text/html" href="${origin}${buildHref(event.build_id)}"/>
<category term="${event.kind}"/>
<summary>${KINDS[event.kind].tell(event)}</summary>
</entry>
`;
}

function breakWords({ error_line: line }: FeedEvent): string {
  return line === null
    ? "The build failed without an error line."
    : `The build failed: ${xmlText(line, 400)}`;
}

function failureWords({ failures, broke_at: since }: FeedEvent): string {
  const times = failures === 1 ? "once" : `${failures} times in a row`;
  return `Before, it failed ${times}${since === null ? "" : `, first at ${since.slice(0, 16)} UTC`}.`;
}

/** What a series did, in the title of an entry; and its summary. */
const KINDS: Record<FeedEvent["kind"], { did: string; tell(event: FeedEvent): string }> = {
  broke: { did: "broke", tell: breakWords },
  fixed: { did: "is fixed", tell: (event) => `The build succeeded. ${failureWords(event)}` },
  deleted: {
    did: "was deleted",
    tell: (event) => `The version was deleted, so its failure is over. ${failureWords(event)}`,
  },
  withdrawn: {
    did: "does not fail any more",
    tell: ({ broke_at: at }) =>
      `The service took back that this build failed${at === null ? "" : `, which began at ${at.slice(0, 16)} UTC`}.`,
  },
};

const segment = (text: string) => encodeURIComponent(text.toWellFormed());

/** Foreign text for an XML document, cut. XML allows two characters less than HTML does. */
const xmlText = (text: string, maxLength?: number): string =>
  shorten(text, maxLength).replace(/[\ufffe\uffff]/g, "\ufffd");
