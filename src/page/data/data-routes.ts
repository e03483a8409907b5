import { type Context, Hono } from "hono";
import type { Clock } from "../../base/clock.ts";
import { didYouMean, nearestNames } from "../../base/config/nearest-names.ts";
import { ConfigError } from "../../base/errors.ts";
import { type AnswerFilters, askFor, FILTER_NAMES, filtersOf } from "../../report/ask.ts";
import type { Relation } from "../../report/dictionary.ts";
import { assertNamesKnown, parseRelation } from "../../report/known-names.ts";
import { findSpanEnd } from "../../report/span-end.ts";
import { type KeptPages, sendPage } from "../cache/kept-pages.ts";
import { whileRead } from "../cache/single-flight.ts";
import type { PageFiles } from "../parts/block.ts";
import type { PageFunction } from "../parts/document.ts";
import { minuteOf } from "../parts/freshness.ts";
import { readQuery, segmentAfter } from "../parts/links.ts";
import { findDayMoment, readDayChoice } from "../parts/period.ts";
import { findProjects } from "../parts/projects.ts";
import { ANSWER_FORMATS, type AnswerReply, type FindQuestion, type FormatName } from "./answer-reply.ts";
import { findFeedEvents, renderFeed } from "./feed.ts";

/**
 * The pages' figures for programs: rows as CSV or JSON, Atom feeds, logs as text. Rows are streamed from one
 * snapshot, so memory does not grow with them.
 */

interface DataRoutesDeps {
  kept: KeptPages;
  answerReply: AnswerReply;
  /** The pages that have files of their blocks, by their names in these addresses. */
  pages: Readonly<Record<string, PageFunction>>;
  clock: Clock;
  /** The reply for a path that is not there. */
  showAbsence(c: Context): Response | Promise<Response>;
}

const ATOM = { "content-type": "application/atom+xml; charset=utf-8" };

/** The routes for programs: answers as CSV and JSON, and feeds. */
export function createDataRoutes({ kept, answerReply, pages, clock, showAbsence }: DataRoutesDeps): Hono {
  const app = new Hono();

  /** Rows as CSV or JSON, of a file below `prefix`. A HEAD request reads nothing. */
  function showRows(c: Context, prefix: string, questionOf: (name: string) => FindQuestion) {
    const [, name, ending] = /^([^/]+)\.(csv|json)$/.exec(segmentAfter(prefix, c.req.url) ?? "") ?? [];
    if (name === undefined) return showAbsence(c);
    const format = ending as FormatName;
    const question = questionOf(name);
    if (c.req.method === "HEAD") return c.body(null, 200, { "content-type": ANSWER_FORMATS[format].type });
    return answerReply(question, format, whileRead(c.req.raw));
  }

  /** Every row of a relation. */
  const showAnswer = (c: Context) =>
    showRows(c, "/report/", (name) => {
      const relation = parseRelation(name);
      const now = clock.now();
      const filtersUntil = (end: Date) => readFilters(relation, readQuery(c.req.url, end));
      filtersUntil(now);
      return async (tx) => {
        const filters = filtersUntil(await findSpanEnd(tx, relation, now));
        const question = askFor(relation, filters);
        await assertNamesKnown(tx, filters);
        return { name: relation, statement: question };
      };
    });

  /** Every row of a block of a page, as the page asks for it. */
  function showBlock(c: Context): Response | Promise<Response> {
    const page = c.req.param("page") ?? "";
    const drawing = Object.hasOwn(pages, page) ? pages[page] : undefined;
    if (drawing === undefined) return showAbsence(c);
    return showRows(c, `/files/${page}/`, (block) => {
      const now = minuteOf(clock.now());
      const query = readQuery(c.req.url, now);
      const name = query.get("slug") ?? query.get("id") ?? "";
      const { files } = drawing({ path: "", name, query, now, renews: false });
      assertNarrows(page, block, query, files);
      return async (tx) => {
        const questions = await files.ask(tx, await kept.moment(tx, now));
        const question = Object.hasOwn(questions, block) ? questions[block] : undefined;
        if (question === undefined) throw new ConfigError(`the page ${page} has no rows of ${block} now`);
        return { name: `${page}-${block}`, statement: question.whole };
      };
    });
  }

  /** Without a project the feed of all. */
  async function showFeed(c: Context, project?: string): Promise<Response> {
    const origin = originOf(c);
    const day = readDayChoice(readQuery(c.req.url, minuteOf(clock.now())));
    const feed = await kept.find(c, ["feed", project, origin, day], clock.now(), async (tx, moment) => {
      // No text of Postgres has this character.
      const isThere =
        project === undefined || (!project.includes("\0") && (await findProjects(tx, project))[0]);
      if (!isThere) return { status: 404, body: "" };
      const events = await findFeedEvents(tx, await findDayMoment(tx, day, moment), project);
      const body = await renderFeed(origin, { project, day }, events, moment.freshness);
      return { status: 200, body };
    });
    return feed.status === 404 ? showAbsence(c) : sendPage(c, feed, ATOM);
  }

  app.get("/report/*", showAnswer);
  app.get("/files/:page/*", showBlock);
  // A query, because the path of some slugs would be read as a step up.
  app.get("/feed.atom", (c) => showFeed(c, c.req.query("project")));
  app.get("/project/*/feed.atom", (c) => {
    const slug = segmentAfter("/project/", c.req.url.replace(/\/feed\.atom\/?(?=\?|$)/, ""));
    return slug === null ? showAbsence(c) : showFeed(c, slug);
  });
  return app;
}

/**
 * Parses what narrows a file. A page says in words what it shows, and ignores what it does not know: chats and mail programs add
 * words of their own to a link. A program reads only rows, so a file refuses what does not narrow it.
 */

/** The filters of a relation's file, as `docmirror report` has them. An empty one is none, but a slug may be empty. */
export function readFilters(relation: Relation, query: URLSearchParams): AnswerFilters {
  assertKnown(relation, query, FILTER_NAMES, filtersOf(relation));
  const given = (name: string) => query.get(name) || undefined;
  const limit = given("limit");
  return {
    project: query.get("project") ?? undefined,
    version: given("version"),
    type: given("type"),
    since: given("since"),
    until: given("until"),
    limit: limit === undefined ? undefined : Number(/^\d+$/.test(limit) ? limit : Number.NaN),
  };
}

/** Throws ConfigError for a block that a page does not have, and for what does not narrow its rows. */
function assertNarrows(
  page: string,
  block: string,
  query: URLSearchParams,
  { parameters }: Pick<PageFiles, "parameters">,
): void {
  const own = Object.hasOwn(parameters, block) ? parameters[block] : undefined;
  const blocks = Object.keys(parameters);
  if (own === undefined) {
    const nearest = didYouMean(nearestNames(block, blocks));
    throw new ConfigError(`the page ${page} has no rows of ${block}${nearest}`, {
      hint: `it has those of ${blocks.join(", ")}`,
    });
  }
  const all = Object.values(parameters).flatMap((one) => Object.keys(one));
  assertKnown(block, query, all, Object.keys(own));
  for (const [name, values] of Object.entries(own)) {
    const given = query.get(name);
    if (values === null || given === null || given === "" || values.includes(given)) continue;
    throw new ConfigError(`${name} cannot be ${given}${didYouMean(nearestNames(given, values))}`, {
      hint: `it can be ${values.join(", ")}`,
    });
  }
}

/** `known` are all names that something has, `possible` those that this has. */
function assertKnown(
  what: string,
  query: URLSearchParams,
  known: readonly string[],
  possible: readonly string[],
): void {
  const hint = possible.length === 0 ? "nothing narrows it" : `it can be narrowed by ${possible.join(", ")}`;
  for (const name of new Set(query.keys())) {
    if (!possible.includes(name)) {
      const nearest = known.includes(name) ? [] : nearestNames(name, possible);
      throw new ConfigError(`${what} cannot be narrowed by ${name}${didYouMean(nearest)}`, { hint });
    }
    if (query.getAll(name).length > 1) throw new ConfigError(`${name} is given twice`, { hint });
  }
}

/**
 * The scheme, host and port under which the reader asked. The server has checked the host. A proxy that ends
 * TLS names the scheme; its `X-Forwarded-Host` is not read, because any client can send one.
 */
function originOf(c: Context): string {
  const { protocol, host } = new URL(c.req.url);
  return `${c.req.header("x-forwarded-proto") === "https" ? "https:" : protocol}//${host}`;
}
