import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { describeBuild } from "../builds/describe-build.ts";
import { explainBuild } from "../builds/explain-build.ts";
import type { Clock } from "../clock.ts";
import type { TransactionSql } from "../db/connect.ts";
import type { MirrorReader } from "../db/mirror-reader.ts";
import type { Logger } from "../log.ts";
import { isStorableId } from "../wire/record-id.ts";
import { createAnswerReply } from "./answer-reply.ts";
import type { Freshness } from "./banner.ts";
import { absenceWords, askForBuild, findFacts, renderBuild } from "./build-page.ts";
import { createDataRoutes } from "./data-routes.ts";
import { type DocumentFacts, renderDocument } from "./document.ts";
import { explainFailure } from "./failures.ts";
import { renderFigures } from "./figures-page.ts";
import { createKeptPages, sendPage } from "./kept-pages.ts";
import { buildHref, projectHref, segmentAfter } from "./links.ts";
import { notice, renderEither, renderNearest } from "./notice.ts";
import { OF_PROJECT, OVERVIEW } from "./page-blocks.ts";
import { readPageFilters } from "./page-filters.ts";
import { findNearestProjects, findProjects, renderProjectFacts } from "./project-page.ts";
import { readQuery } from "./read-query.ts";
import { ReaderGoneError } from "./reader-gone.ts";
import { readStyleSheet } from "./style-sheet.ts";
import { foreign, shorten } from "./words.ts";

export interface PagesDeps {
  mirror: MirrorReader;
  /** The time zone of the dates of builds. */
  sourceTimezone: string;
  clock: Clock;
  log: Logger;
}

/** A page without the parts that are the same on all pages. */
interface Draft {
  readonly status: 200 | 404;
  readonly facts: DocumentFacts;
}

/** A page loads only our own style sheet, runs no script, and may not be framed. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};
const HTML = { "content-type": "text/html; charset=UTF-8" };
const READS = ["GET", "HEAD"];
const RETRY_SECONDS = "10";
const FOR_GOOD = "public, max-age=31536000, immutable";

/**
 * The pages for people: all projects, one project, one build, and each answer as CSV. They only read the
 * mirror, and link only to their own paths. Any other path gets a page that says so.
 */
export function createPages({ mirror, sourceTimezone, clock, log }: PagesDeps): Hono {
  const style = readStyleSheet();
  const kept = createKeptPages(mirror);
  const app = new Hono();

  async function show(c: Context, facts: DocumentFacts, status: ContentfulStatusCode): Promise<Response> {
    c.header("cache-control", "no-cache");
    return c.html(await renderDocument(facts, style.href), status);
  }

  const showAbsence = (c: Context) =>
    show(c, notice("Page not found", "There is no page at this address."), 404);

  /** A page of figures, kept until its content changes. */
  async function showFigures(
    c: Context,
    key: unknown,
    draft: (tx: TransactionSql, freshness: Freshness) => Promise<Draft>,
  ): Promise<Response> {
    const page = await kept.find(c, key, clock.now(), async (tx, freshness) => {
      const { status, facts } = await draft(tx, freshness);
      return { status, body: await renderDocument(facts, style.href) };
    });
    return sendPage(c, page, HTML);
  }

  function showOverview(c: Context): Promise<Response> {
    const now = clock.now();
    const today = now.toISOString().slice(0, 10);
    const filters = readPageFilters(readQuery(c.req.url, now), today);
    return showFigures(c, ["overview", filters], async (tx, freshness) => {
      const form = { path: "/", kept: {}, today };
      const main = await renderFigures(tx, { scope: { filters }, blocks: OVERVIEW, freshness, form });
      return { status: 200, facts: { title: "Do the builds succeed?", main } };
    });
  }

  function showProject(c: Context, slug: string): Promise<Response> {
    const now = clock.now();
    const today = now.toISOString().slice(0, 10);
    const filters = readPageFilters(readQuery(c.req.url, now), today);
    return showFigures(c, ["project", slug, filters], async (tx, freshness) => {
      const projects = await findProjects(tx, slug);
      if (projects.length === 0) {
        const nearest = await findNearestProjects(tx, slug);
        const words = renderNearest(`The mirror has no project ${shorten(slug)}.`, nearest);
        return { status: 404, facts: notice("No such project", words, slug) };
      }
      const [path = "/", search] = projectHref(slug).split("?");
      const form = { path, kept: search === undefined ? {} : { slug }, today };
      const about = renderProjectFacts(projects);
      const scope = { filters, project: slug };
      const main = await renderFigures(tx, { scope, blocks: OF_PROJECT, freshness, form, about });
      return { status: 200, facts: { title: slug, heading: foreign(slug, 200), main } };
    });
  }

  async function showBuild(c: Context, id: string): Promise<Response> {
    const absent = notice("No such build", "The mirror has no build with this id.", id);
    if (!isStorableId(id)) return show(c, absent, 404);
    const question = askForBuild(id);
    const { explanation, fact } = await kept.read(c, async (tx) => ({
      explanation: await explainBuild(tx, id, sourceTimezone),
      fact: (await findFacts(tx, question))[0],
    }));
    const { build, quarantine } = explanation;
    if (build === null) return show(c, notice("No such build", absenceWords(explanation), id), 404);
    const main = renderBuild(id, describeBuild(build, quarantine), fact, question);
    return show(c, { title: `Build ${shorten(id)}`, main }, 200);
  }

  /** The target of a search: the project, the build, or a choice when both exist. */
  async function find(c: Context, searched: string): Promise<Response> {
    if (searched === "") return c.redirect("/", 303);
    const { projects, builds } = await kept.read(c, async (tx) => ({
      projects: await findProjects(tx, searched),
      builds: isStorableId(searched) ? await findFacts(tx, askForBuild(searched)) : [],
    }));
    const isBuild = builds.length > 0;
    if (projects.length > 0 && isBuild) {
      return show(c, notice("A project or a build?", renderEither(searched), searched), 200);
    }
    return c.redirect(isBuild ? buildHref(searched) : projectHref(searched), 303);
  }

  /** Calls `fn` with the path after `prefix`, if that is one segment. */
  function bySegment(
    c: Context,
    prefix: string,
    fn: (c: Context, segment: string) => Response | Promise<Response>,
  ): Response | Promise<Response> {
    const segment = segmentAfter(prefix, c.req.url);
    return segment === null ? showAbsence(c) : fn(c, segment);
  }

  app.use(async (c, next) => {
    if (READS.includes(c.req.method)) await next();
    else {
      const facts = notice("Read-only pages", "These pages only answer GET and HEAD.");
      c.header("allow", READS.join(", "));
      c.res = await show(c, facts, 405);
    }
    for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value);
  });
  const answerReply = createAnswerReply(mirror);
  app.route("/", createDataRoutes({ pages: kept, answerReply, clock, showAbsence }));
  app.get("/", showOverview);
  app.get("/project", (c) => showProject(c, c.req.query("slug") ?? ""));
  app.get("/project/*", (c) => bySegment(c, "/project/", showProject));
  app.get("/build", (c) => showBuild(c, c.req.query("id") ?? ""));
  app.get("/build/*", (c) => bySegment(c, "/build/", showBuild));
  app.get("/find", (c) => find(c, (c.req.query("q") ?? "").trim()));
  app.get(style.href, (c) =>
    c.body(style.text, 200, { "content-type": "text/css; charset=utf-8", "cache-control": FOR_GOOD }),
  );
  app.all("*", showAbsence);
  app.onError(async (error, c) => {
    if (error instanceof ReaderGoneError) return c.body(null, 503);
    const { status, title, words, isOurs } = explainFailure(error);
    const { pathname: path } = new URL(c.req.url);
    if (isOurs) log.error({ err: error, path }, "a page could not be made");
    else
      log[status === 503 ? "warn" : "debug"](
        { error: error.message, path, status },
        "a page could not be served",
      );
    if (status === 503) {
      c.header("retry-after", RETRY_SECONDS);
      // The page itself asks again, so that a reader only has to wait.
      c.header("refresh", RETRY_SECONDS);
    }
    return show(c, notice(title, words), status);
  });
  return app;
}
