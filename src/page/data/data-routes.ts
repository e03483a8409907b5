/**
 * The pages' figures for programs: rows as CSV or JSON, Atom feeds, badges, logs as text. Rows are streamed from one
 * snapshot, so memory does not grow with them.
 */
import { type Context, Hono } from "hono";
import type { Clock } from "../../base/clock.ts";
import { parseRelation } from "../../report/known-names.ts";
import { type KeptPages, sendPage } from "../cache/kept-pages.ts";
import { whileRead } from "../cache/reader-gone.ts";
import { segmentAfter } from "../parts/links.ts";
import { readFileFilters, readQuery } from "../parts/questions/read-query.ts";
import { ANSWER_FORMATS, type FormatName } from "./answer-formats.ts";
import type { AnswerReply } from "./answer-reply.ts";
import { renderBadge } from "./badge.ts";
import { findBadgeFacts } from "./badge-facts.ts";
import { renderFeed } from "./feed.ts";
import { findFeedEvents, findRefreshed, hasProject } from "./feed-events.ts";

export interface DataRoutesDeps {
  pages: KeptPages;
  answerReply: AnswerReply;
  clock: Clock;
  /** The reply for a path that is not there. */
  showAbsence(c: Context): Response | Promise<Response>;
}

const ATOM = { "content-type": "application/atom+xml; charset=utf-8" };
/** A badge is embedded by pages of other origins, and they should not ask for it all the time. */
const BADGE = {
  "content-type": "image/svg+xml",
  "cache-control": "public, max-age=300",
  "cross-origin-resource-policy": "cross-origin",
};

/** What programs read: answers as CSV and JSON, feeds, and badges. */
export function createDataRoutes({ pages, answerReply, clock, showAbsence }: DataRoutesDeps): Hono {
  const app = new Hono();

  /** Rows as CSV or JSON. A HEAD request reads nothing. */
  function showAnswer(c: Context): Response | Promise<Response> {
    const file = segmentAfter("/report/", c.req.url);
    const [, name, format] = /^([^/]+)\.(csv|json)$/.exec(file ?? "") ?? [];
    if (name === undefined) return showAbsence(c);
    const relation = parseRelation(name);
    if (c.req.method === "HEAD")
      return c.body(null, 200, { "content-type": ANSWER_FORMATS[format as FormatName].type });
    const filters = readFileFilters(readQuery(c.req.url, clock.now()));
    return answerReply(relation, format as FormatName, filters, whileRead(c.req.raw));
  }

  /** Without a project the feed of all. */
  async function showFeed(c: Context, project?: string): Promise<Response> {
    const origin = originOf(c);
    const feed = await pages.find(c, ["feed", project, origin], clock.now(), async (tx) => {
      if (project !== undefined && !(await hasProject(tx, project))) return { status: 404, body: "" };
      const events = await findFeedEvents(tx, project);
      const facts = { origin, events, refreshedAt: await findRefreshed(tx) };
      return { status: 200, body: await renderFeed(project === undefined ? facts : { ...facts, project }) };
    });
    return feed.status === 404 ? showAbsence(c) : sendPage(c, feed, ATOM);
  }

  async function showBadge(c: Context): Promise<Response> {
    const slug = segmentAfter("/badge/", c.req.url)?.match(/^(.*)\.svg$/s)?.[1];
    if (slug === undefined) return showAbsence(c);
    const badge = await pages.find(c, ["badge", slug], clock.now(), async (tx) => {
      const facts = await findBadgeFacts(tx, slug);
      return { status: facts === undefined ? 404 : 200, body: await renderBadge(slug, facts) };
    });
    return sendPage(c, badge, BADGE);
  }

  app.get("/report/*", showAnswer);
  // A query, because the path of some slugs would be read as a step up.
  app.get("/feed.atom", (c) => showFeed(c, c.req.query("project")));
  app.get("/project/*/feed.atom", (c) => {
    const slug = segmentAfter("/project/", c.req.url.replace(/\/feed\.atom\/?(?=\?|$)/, ""));
    return slug === null ? showAbsence(c) : showFeed(c, slug);
  });
  app.get("/badge/*", showBadge);
  return app;
}

/**
 * The scheme, host and port under which the reader asked. The server has checked the host. A proxy that ends
 * TLS names the scheme; its `X-Forwarded-Host` is not read, because any client can send one.
 */
function originOf(c: Context): string {
  const { protocol, host } = new URL(c.req.url);
  return `${c.req.header("x-forwarded-proto") === "https" ? "https:" : protocol}//${host}`;
}
