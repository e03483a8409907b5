import { type Context, Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/log.ts";
import { findArchivedLog } from "../mirror/builds/explain-build.ts";
import { isStorableId } from "../resources/record-id.ts";
import type { MirrorReader } from "../store/connection/sql.ts";
import { buildPage } from "./build/build-page.ts";
import { createKeptPages, sendPage } from "./cache/kept-pages.ts";
import { ReaderGoneError } from "./cache/single-flight.ts";
import { createAnswerReply } from "./data/answer-reply.ts";
import { createDataRoutes } from "./data/data-routes.ts";
import { readLog } from "./data/log-reply.ts";
import { errorsPage } from "./errors/errors-page.ts";
import { awayNotice, explainPageFailure } from "./failures.ts";
import { dictionaryPage } from "./mirror/dictionary-page.ts";
import { mirrorPage } from "./mirror/mirror-page.ts";
import { drawNeverSynced } from "./mirror/never-synced.ts";
import { nowPage } from "./now/now-page.ts";
import { findBuild } from "./parts/builds.ts";
import {
  type DocumentFacts,
  faultNotice,
  notice,
  type PageFunction,
  renderDocument,
} from "./parts/document.ts";
import { type FoundMoment, minuteOf, renderAge, renderLimits, writtenWords } from "./parts/freshness.ts";
import { foreign, html } from "./parts/html.ts";
import { buildHref, projectHref, readQuery, segmentAfter } from "./parts/links.ts";
import { when } from "./parts/marks.ts";
import { findProjects } from "./parts/projects.ts";
import { projectPage } from "./project/project-page.ts";
import { projectsPage } from "./projects/projects-page.ts";
import { findSearched } from "./projects/searched.ts";
import { readStyleSheet } from "./style-sheet.ts";
import { trendsPage } from "./trends/trends-page.ts";

export interface PagesDeps {
  mirror: MirrorReader;
  /** The time zone of the dates of builds. */
  sourceTimezone: string;
  /** A list that was not read well for this long is stale. */
  staleAfterMs: number;
  /** The moment of a mirror that is one snapshot, for pages that become files. @default found for each page */
  still?: FoundMoment;
  clock: Clock;
  log: Logger;
}

/** A page loads only our own style sheet, runs no script, and may not be framed. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};
const READS = ["GET", "HEAD"];
const HTML = { "content-type": "text/html; charset=UTF-8" };
const RETRY_SECONDS = "10";
const FOR_GOOD = "public, max-age=31536000, immutable";

/** The pages of all projects, by their names in the addresses of files. */
const PAGES: Readonly<Record<string, PageFunction>> = {
  now: nowPage,
  trends: trendsPage,
  projects: projectsPage,
  errors: errorsPage,
  mirror: mirrorPage,
  dictionary: dictionaryPage,
};

const pathOf = (page: string): string => (page === "now" ? "/" : `/${page}`);

/**
 * The pages for people: what is broken now, trends, projects, errors, the mirror, one project, one build; and
 * each answer as a file. They only read the mirror, and load nothing from elsewhere. Any other path gets a page
 * that says so.
 */
export function createPages({ mirror, sourceTimezone, staleAfterMs, still, clock, log }: PagesDeps): Hono {
  const style = readStyleSheet();
  const kept = createKeptPages(mirror, staleAfterMs, still);
  const pageOfBuild = buildPage(sourceTimezone);
  const app = new Hono();

  async function show(c: Context, facts: DocumentFacts, status: ContentfulStatusCode): Promise<Response> {
    c.header("cache-control", "no-cache");
    return c.html(await renderDocument({ service: kept.service(), ...facts }, style.href), status);
  }

  const showAbsence = (c: Context) =>
    show(c, notice("Page not found", "There is no page at this address."), 404);

  /** A page of figures, cached until its content or the minute changes. */
  async function showPage(c: Context, page: PageFunction, name = ""): Promise<Response> {
    const { pathname: path } = new URL(c.req.url);
    const now = minuteOf(clock.now());
    const query = readQuery(c.req.url, now);
    const address = { path, name, query, now, renews: query.get("renew") !== "no" };
    const { key, needs = ["build"], draw } = page(address);
    const made = await kept.find(c, [key, address.renews], now, async (tx, moment) => {
      const { freshness } = moment;
      // Figures of before the lists were read would say that nothing was ever built.
      const isEmpty = needs.length > 0 && needs.every((list) => freshness.uncounted.includes(list));
      const draft = isEmpty ? await drawNeverSynced(tx, freshness, address) : await draw(tx, moment);
      const limits = renderLimits(freshness, now);
      const file = moment.isFile && { of: when(moment.at, now), says: writtenWords(now) };
      const facts = { age: renderAge(moment), ...draft, limits, service: freshness.service, file };
      return { status: 200, ...draft, body: await renderDocument(facts, style.href) };
    });
    return sendPage(c, made, HTML);
  }

  async function showLog(c: Context): Promise<Response> {
    const id = c.req.param("id") ?? "";
    const isId = isStorableId(id);
    const log = isId ? await readLog(mirror, id) : null;
    if (log !== null) return log;
    const archived = isId ? await mirror.read((sql) => findArchivedLog(sql, id)) : null;
    if (archived === null)
      return show(c, notice("No log", "The mirror has no log of a build with this id."), 404);
    const { folder, path } = archived;
    return show(c, notice("Its log was removed", html`It is in <code>${folder}/${path}</code>.`), 410);
  }

  /** The target of a search: the project, the build, or a choice when both exist. */
  async function find(c: Context, given: string): Promise<Response> {
    if (given === "") return c.redirect("/", 303);
    const { searched, projects, build } = await kept.read(c, async (tx) => {
      const searched = await findSearched(tx, given);
      return {
        searched,
        projects: await findProjects(tx, searched),
        build: await findBuild(tx, searched),
      };
    });
    if (projects.length > 0 && build !== undefined) {
      const facts = notice("A project or a build?", "Both have that name.", [
        { href: projectHref(searched), words: html`the project ${foreign(searched)}` },
        { href: buildHref(searched), words: html`the build ${foreign(searched)}` },
      ]);
      return show(c, { ...facts, searched }, 200);
    }
    return c.redirect(build ? buildHref(searched) : projectHref(searched), 303);
  }

  /** Shows the page of the path after `prefix`, if that is one segment. */
  function showSegment(c: Context, prefix: string, page: PageFunction): Promise<Response> {
    const segment = segmentAfter(prefix, c.req.url);
    return segment === null ? showAbsence(c) : showPage(c, page, segment);
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

  // Before the pages: `/project/SLUG/feed.atom` is no page of a project.
  const answerReply = createAnswerReply(mirror);
  const pages = { ...PAGES, project: projectPage, build: pageOfBuild };
  app.route("/", createDataRoutes({ kept, answerReply, pages, clock, showAbsence }));
  for (const [name, page] of Object.entries(PAGES)) app.get(pathOf(name), (c) => showPage(c, page));
  app.get("/project", (c) => showPage(c, projectPage, c.req.query("slug")));
  app.get("/project/*", (c) => showSegment(c, "/project/", projectPage));
  app.get("/build", (c) => showPage(c, pageOfBuild, c.req.query("id")));
  app.get("/build/:id/log.txt", showLog);
  app.get("/build/*", (c) => showSegment(c, "/build/", pageOfBuild));
  app.get("/find", (c) => find(c, (c.req.query("q") ?? "").trim()));

  // Files that are no page.
  app.get(style.href, (c) =>
    c.body(style.text, 200, { "content-type": "text/css; charset=utf-8", "cache-control": FOR_GOOD }),
  );

  app.all("*", showAbsence);
  app.onError(async (error, c: Context) => {
    if (error instanceof ReaderGoneError) return c.body(null, 503);
    const { status, title, words, isOurs, isAway } = explainPageFailure(error);
    const { pathname: path, search } = new URL(c.req.url);
    const request_id: string | undefined = c.get("requestId");
    if (isOurs) log.error({ err: error, request_id, path }, "a page could not be made");
    else
      log[status === 503 ? "warn" : "debug"](
        { error: error.message, request_id, path, status },
        "a page could not be served",
      );
    if (status === 503) {
      c.header("retry-after", RETRY_SECONDS);
      // The page itself asks again, so that a reader only has to wait.
      c.header("refresh", RETRY_SECONDS);
    }
    const draw = isAway ? awayNotice : faultNotice;
    const facts = status === 400 ? notice(title, words) : draw(title, words, path + search, request_id);
    return show(c, facts, status);
  });
  return app;
}
