import { asIso } from "../../report/read-answer.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { html, type Markup, xmlText } from "../parts/html.ts";
import { buildHref, feedHref, projectHref, withQuery } from "../parts/links.ts";

/** A series of builds that broke or was fixed, or whose version was deleted while it failed. */
interface FeedEvent {
  readonly kind: "broke" | "fixed" | "deleted";
  /** The first build that failed, or the one that succeeded again. */
  readonly build_id: string;
  /** The moment of the trigger of that build, or of the deletion. */
  readonly at: string;
  readonly project_slug: string;
  readonly version_slug: string;
  readonly type: string;
  /** The failures in a row, so far. */
  readonly failures: number;
  readonly broke_at: string | null;
  /** The error line of a build that failed. */
  readonly error_line: string | null;
}

const MOST_EVENTS = 50;

/**
 * The newest breaks and fixes, newest first, of one project or of all that the service still has; up to the end of a past day
 * that was chosen. Dates beyond a day after the moment of the data come from a wrong clock and are left out.
 */
export async function findFeedEvents(tx: TransactionSql, { now, at, day }: PageMoment, project?: string) {
  const last = day === undefined ? tx`${at}::timestamptz + interval '1 day'` : tx`${now}::timestamptz`;
  const isShown = tx`
    ${project === undefined ? tx`true` : tx`streak.project_slug = ${project}`}
    and not exists (
      select from report.dim_projects as gone where gone.project_id = streak.project_id and gone.is_deleted
    )`;
  return tx<FeedEvent[]>`
    select event.*, failed.error_line
    from (
      (select 'broke' as kind, first_failed_build_id as build_id, broke_at as at,
         project_slug, version_slug, type, failures, broke_at
       from report.streaks as streak
       where broke_at < ${last} and ${isShown}
       order by broke_at desc limit ${MOST_EVENTS})
      union all
      (select 'fixed', recovered_build_id, recovered_at, project_slug, version_slug, type, failures, broke_at
       from report.streaks as streak
       where recovered_at < ${last} and ${isShown}
       order by recovered_at desc limit ${MOST_EVENTS})
      union all
      (select 'deleted', first_failed_build_id, version.deleted_at, streak.project_slug, streak.version_slug, type, failures, broke_at
       from report.streaks as streak join report.dim_versions as version using (version_id)
       where is_open and version.deleted_at < ${last} and ${isShown}
       order by version.deleted_at desc limit ${MOST_EVENTS})
    ) as event
    left join report.fact_builds as failed on failed.build_id = event.build_id and event.kind = 'broke'
    order by event.at desc, length(event.build_id) desc, event.build_id desc, event.kind
    limit ${MOST_EVENTS}`;
}

/** The mirror has a project of that slug, perhaps a deleted one. */
export async function hasProject(tx: TransactionSql, slug: string): Promise<boolean> {
  // No text of Postgres has this character.
  if (slug.includes("\0")) return false;
  return (await tx`select from report.dim_projects where project_slug = ${slug} limit 1`).length > 0;
}

/** The moment when the figures were computed last; null when they never were. */
export async function findRefreshed(tx: TransactionSql): Promise<string | null> {
  const [row] = await tx<{ at: string | null }[]>`select max(refreshed_at) as at from report.freshness`;
  return row?.at ?? null;
}

/** Ids name the service, and not the host of these pages: readers see no entry twice, nor those of two mirrors as one (RFC 4151). */
const idOf = (service: string | null, rest: string): string =>
  `tag:docmirror,2026:${service === null ? "" : `${xmlText(service)}/`}${rest}`;
const NEVER = "1970-01-01 00:00:00+00";

/** Breaks and fixes of a project, or of all, as an Atom feed (RFC 4287). `refreshedAt` is the moment of one without events. */
export async function renderFeed(
  origin: string,
  { project, day }: { project?: string | undefined; day?: string | undefined },
  events: readonly FeedEvent[],
  refreshedAt: string | null,
  service: string | null,
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
<title>${series} ${{ broke: "broke", fixed: "is fixed", deleted: "was deleted" }[event.kind]}</title>
<updated>${asIso(event.at)}</updated>
<link rel="alternate" type="text/html" href="${origin}${buildHref(event.build_id)}"/>
<category term="${event.kind}"/>
<summary>${SUMMARIES[event.kind](event)}</summary>
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

const SUMMARIES: Record<FeedEvent["kind"], (event: FeedEvent) => string> = {
  broke: breakWords,
  fixed: (event) => `The build succeeded. ${failureWords(event)}`,
  deleted: (event) => `The version was deleted, so its failure is over. ${failureWords(event)}`,
};

const segment = (text: string) => encodeURIComponent(text.toWellFormed());
