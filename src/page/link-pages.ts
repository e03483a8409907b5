import { createHash } from "node:crypto";
import { posix } from "node:path";
import { buildHref, projectHref } from "./parts/links.ts";

/** The address of each page at a server, and the place of its file in the folder. */
type Places = ReadonlyMap<string, string>;

/** The pages that the folder has. */
export function addressesOf(pages: {
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

export const isRowsFile = (address: string): boolean => /^\/files\//.test(address);

const placeOfRows = (address: string): string => {
  const [path = "", query = ""] = address.slice(1).split("?");
  const { dir, name, ext } = posix.parse(path);
  return posix.join(dir, `${name}${query === "" ? "" : `-${fileName(query)}`}${ext}`);
};

/** What a folder of files cannot do: forms, the choices of a list, feeds, and the API. */
const LIVE =
  /<form\b[^>]*>[\s\S]*?<\/form>|<nav class="chips[^>]*>[\s\S]*?<\/nav>|<a class="find-link"[\s\S]*?<\/a>|<link rel="alternate"[^>]*>/g;

/** In place of the choice of days, which a folder has three of. */
const DAYS = `<nav class="chips" aria-label="How many days"><a href="/trends?since=7d">7 days</a>
<a href="/trends">14 days</a> <a href="/trends?since=30d">30 days</a></nav>`;

const decoded = (text: string): string =>
  text.replaceAll("&amp;", "&").replaceAll("&#39;", "'").replaceAll("&quot;", '"');

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
    const href = linkTo(decoded(given));
    return href === null ? "" : ` href="${href.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"`;
  });
  return { text, files };
}
