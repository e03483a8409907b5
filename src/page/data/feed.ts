import { asIso } from "../../report/read-answer.ts";
import { html } from "../parts/html.ts";
import { buildHref, feedHref, projectHref } from "../parts/links.ts";
import type { Markup } from "../parts/words.ts";
import type { FeedEvent } from "./feed-events.ts";
import { xmlText } from "./xml-text.ts";

export interface FeedFacts {
  /** The scheme, host and port under which the reader asked. */
  readonly origin: string;
  /** Undefined for the feed of all projects. */
  readonly project?: string;
  readonly events: readonly FeedEvent[];
  /** The moment of a feed without events. */
  readonly refreshedAt: string | null;
}

/** Ids stay the same under every host, so that readers do not see an entry twice (RFC 4151). */
const ID = "tag:docmirror,2026:";
const NEVER = "1970-01-01 00:00:00+00";

/** Breaks and fixes as an Atom feed (RFC 4287). */
export async function renderFeed({ origin, project, events, refreshedAt }: FeedFacts): Promise<string> {
  const name = project === undefined ? "all projects" : xmlText(project);
  const page = project === undefined ? "/" : projectHref(project);
  const id = project === undefined ? "feed" : `project/${segment(project)}/feed`;
  const feed = await html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>${ID}${id}</id>
<title>Breaks and fixes of ${name}</title>
<subtitle>Documentation builds that began to fail, and those that succeed again</subtitle>
<updated>${asIso(events[0]?.at ?? refreshedAt ?? NEVER)}</updated>
<author><name>docmirror</name></author>
<link rel="self" type="application/atom+xml" href="${origin}${feedHref(project)}"/>
<link rel="alternate" type="text/html" href="${origin}${page}"/>
${events.map((event) => renderEntry(event, origin))}</feed>
`;
  return feed.toString();
}

function renderEntry(event: FeedEvent, origin: string): Markup {
  const series = `${xmlText(event.project_slug)}: ${xmlText(event.type)} of ${xmlText(event.version_slug)}`;
  return html`<entry>
<id>${ID}build/${segment(event.build_id)}/${event.kind}</id>
<title>${series} ${event.kind === "broke" ? "broke" : "is fixed"}</title>
<updated>${asIso(event.at)}</updated>
<link rel="alternate" type="text/html" href="${origin}${buildHref(event.build_id)}"/>
<category term="${event.kind}"/>
<summary>${event.kind === "broke" ? breakWords(event) : fixWords(event)}</summary>
</entry>
`;
}

function breakWords({ error_line: line }: FeedEvent): string {
  return line === null
    ? "The build failed without an error line."
    : `The build failed: ${xmlText(line, 400)}`;
}

function fixWords({ failures, failed_at: since }: FeedEvent): string {
  const times = failures === 1 ? "once" : `${failures} times in a row`;
  return `The build succeeded. Before, it failed ${times}${since === null ? "" : `, first at ${since.slice(0, 16)} UTC`}.`;
}

const segment = (text: string) => encodeURIComponent(text.toWellFormed());
