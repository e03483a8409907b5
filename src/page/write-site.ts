import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { decodeXML, escapeAttribute } from "entities";
import type { Hono } from "hono";
import PQueue from "p-queue";
import { MirrorError } from "../base/errors.ts";
import { withStagingFolder, writeMarker } from "../report/export/staging-folder.ts";
import {
  keepPlans,
  type MirrorReader,
  runText,
  type Sql,
  type TransactionSql,
} from "../store/connection/sql.ts";
import { FAILING_PER_PAGE } from "./now/failing.ts";
import { createPages, type PagesDeps } from "./pages.ts";
import { keepAnswers } from "./parts/answers.ts";
import { type FoundMoment, findMoment, minuteOf } from "./parts/freshness.ts";
import { buildHref, projectHref } from "./parts/links.ts";
import { withoutAges } from "./parts/marks.ts";
import { PROJECTS_PER_PAGE } from "./projects/project-rows.ts";
import { readStyleSheet } from "./style-sheet.ts";

/** The newest failed builds that have a page. */
const MOST_BUILDS = 100;
/** Everything in the folder besides its marker. */
const SITE_FILES =
  "index.html trends.html errors.html mirror.html dictionary.html projects.html page.css now trends projects project build files";

interface SiteFacts {
  readonly pages: number;
  readonly files: number;
}

/**
 * Writes the report page as files that need neither a server nor a script: Now, Trends (7, 14 and 30 days), Projects, each failing
 * project, Errors, Mirror, and the newest failed builds, all of the one moment of `tx`; with the rows of the blocks of the pages of
 * all projects as CSV and JSON. Links are relative, and moments stand in place of ages, because it is read long after it was written.
 * The folder replaces an older one at once, as an export does. Names of people are left out unless `withPeople`. Throws ConfigError for a
 * folder that is something else, and the reason of the signal.
 */
export async function writeSite(
  tx: TransactionSql,
  target: string,
  deps: Omit<PagesDeps, "mirror" | "still">,
  { withPeople, signal }: { withPeople: boolean; signal: AbortSignal },
): Promise<SiteFacts> {
  if (!withPeople) await runText(tx, "set local docmirror.people = 'off'");
  // All pages are of one minute too.
  const now = minuteOf(deps.clock.now());
  const mirror: MirrorReader = { read: (fn) => fn(tx as unknown as Sql), snapshot: (fn) => fn(tx) };
  keepPlans(tx);
  keepAnswers(tx);
  const still = asFile(await findMoment(tx, now, deps.staleAfterMs));
  const app = createPages({ ...deps, clock: { ...deps.clock, now: () => now }, mirror, still });
  const places = addressesOf(await findPages(tx));
  return withStagingFolder(target, SITE_FILES.split(" "), async (folder) => {
    const rows = new Map<string, string>();
    await inPairs(places, async ([address, place]) => {
      signal.throwIfAborted();
      const reply = await ask(app, address);
      const { text, files } = linkPages(withoutAges(await reply.text()), place, places);
      for (const [file, its] of files) rows.set(file, its);
      await write(folder, place, text);
    });
    // One after the other: each reads by a cursor of this transaction.
    for (const [address, place] of rows) {
      signal.throwIfAborted();
      const { body } = await ask(app, address);
      await mkdir(dirname(join(folder, place)), { recursive: true });
      if (body !== null)
        await pipeline(Readable.fromWeb(body), createWriteStream(join(folder, place)), { signal });
    }
    await write(folder, "page.css", readStyleSheet().text);
    const facts = { pages: places.size, files: rows.size };
    await writeMarker(folder, { made_by: "docmirror report --html", made_at: now.toISOString(), ...facts });
    return facts;
  });
}

const asFile = ({ moment, revision }: FoundMoment): FoundMoment => ({
  moment: { ...moment, isNow: false, isFile: true },
  revision,
});

/** Postgres reads for the one while the other is drawn. When one fails, the other has ended too. */
async function inPairs<T>(all: Iterable<T>, write: (one: T) => Promise<void>): Promise<void> {
  const queue = new PQueue({ concurrency: 2 });
  try {
    await Promise.all(Array.from(all, (one) => queue.add(() => write(one))));
  } finally {
    queue.clear();
    await queue.onIdle();
  }
}

async function ask(app: Hono, address: string): Promise<Response> {
  const reply = await app.request(address);
  if (reply.status === 200) return reply;
  const what = isRowsFile(address) ? "the rows" : "the page";
  throw new MirrorError(`${what} at ${address} could not be made (status ${reply.status})`, {
    hint: "docmirror serve shows why",
  });
}

async function write(folder: string, place: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, place)), { recursive: true });
  await writeFile(join(folder, place), text);
}

/** The projects and builds that have a page, and the number of pages of their lists. */
async function findPages(tx: TransactionSql) {
  const failing = await tx<
    { slug: string }[]
  >`select project_slug as slug from report.failing_projects order by 1`;
  const builds = await tx<{ id: string }[]>`
    select build_id as id from report.fact_builds where failed = 1
    order by triggered_at desc nulls last, length(build_id) desc, build_id desc limit ${MOST_BUILDS}`;
  const [all] = await tx<{ projects: number }[]>`select count(*)::int as projects from report.project_states`;
  const pagesOf = (rows: number, each: number) => Math.max(1, Math.ceil(rows / each));
  return {
    slugs: [...new Set(failing.map(({ slug }) => slug))].filter(
      (slug) => slug !== "" && slug !== "(unknown)",
    ),
    builds: builds.map(({ id }) => id),
    pagesOfNow: pagesOf(failing.length, FAILING_PER_PAGE),
    pagesOfProjects: pagesOf(all?.projects ?? 0, PROJECTS_PER_PAGE),
  };
}

/** The address of each page at a server, and the place of its file in the folder. */
type Places = ReadonlyMap<string, string>;

/** The pages that the folder has. */
function addressesOf(pages: {
  slugs: readonly string[];
  builds: readonly string[];
  pagesOfNow: number;
  pagesOfProjects: number;
}): Places {
  const numbered = (path: string, folder: string, count: number): [string, string][] =>
    Array.from({ length: count - 1 }, (_, at) => [`${path}?page=${at + 2}`, `${folder}/${at + 2}.html`]);
  return new Map([
    ["/", "index.html"],
    ...numbered("/", "now", pages.pagesOfNow),
    ["/trends", "trends.html"],
    ...[7, 30].map((days): [string, string] => [`/trends?since=${days}d`, `trends/${days}.html`]),
    ["/projects", "projects.html"],
    ...numbered("/projects", "projects", pages.pagesOfProjects),
    ["/errors", "errors.html"],
    ["/mirror", "mirror.html"],
    ["/dictionary", "dictionary.html"],
    ...pages.slugs.map((slug): [string, string] => [projectHref(slug), `project/${fileName(slug)}.html`]),
    ...pages.builds.map((id): [string, string] => [buildHref(id), `build/${fileName(id)}.html`]),
  ]);
}

/** A name that each file system takes as it is; others are hashed, so that no two are one. */
const fileName = (name: string): string =>
  /^[a-z0-9][a-z0-9_-]{0,80}$/.test(name)
    ? name
    : `_${createHash("sha256").update(name).digest("hex").slice(0, 20)}`;

const isRowsFile = (address: string): boolean => /^\/files\//.test(address);

const placeOfRows = (address: string): string => {
  const [path = "", query = ""] = address.slice(1).split("?");
  const { dir, name, ext } = posix.parse(path);
  return posix.join(dir, `${name}${query === "" ? "" : `-${fileName(query)}`}${ext}`);
};

/** A folder of files has none of these: forms, the choices of a list, feeds, and the API. */
const LIVE =
  /<form\b[^>]*>[\s\S]*?<\/form>|<nav class="chips[^>]*>[\s\S]*?<\/nav>|<a class="find-link"[\s\S]*?<\/a>|<link rel="alternate"[^>]*>/g;

/** In place of the choice of days, which a folder has three of. */
const DAYS = `<nav class="chips" aria-label="How many days"><a href="/trends?since=7d">7 days</a>
<a href="/trends">14 days</a> <a href="/trends?since=30d">30 days</a></nav>`;

/**
 * A page as a file at `place`: links to pages and rows that the folder has are relative, other links of ours are plain text. Gives
 * the files of rows that it links to, by their addresses: the pages of one project or build have none.
 */
export function linkPages(page: string, place: string, places: Places) {
  const files = new Map<string, string>();
  const relative = (to: string) => encodeURI(posix.relative(posix.dirname(place), to) || posix.basename(to));
  const hasRows = !/^(project|build)\//.test(place);
  const linkTo = (href: string): string | null => {
    const [address = "", fragment] = href.split("#", 2) as [string, string?];
    if (address === "" || /^[a-z]+:/i.test(address)) return href;
    if (address.startsWith("/assets/")) return relative("page.css");
    if (isRowsFile(address)) {
      if (!hasRows) return null;
      files.set(address, placeOfRows(address));
      return relative(placeOfRows(address));
    }
    const file = places.get(address);
    return file === undefined ? null : relative(file) + (fragment === undefined ? "" : `#${fragment}`);
  };
  const hasDays = (live: string) => place.startsWith("trends") && live.includes('aria-label="How many days"');
  const still = page.replace(LIVE, (live) => (hasDays(live) ? DAYS : ""));
  const text = still.replace(/ href="([^"]*)"/g, (_, given: string) => {
    const href = linkTo(decodeXML(given));
    return href === null ? "" : ` href="${escapeAttribute(href)}"`;
  });
  return { text, files };
}
