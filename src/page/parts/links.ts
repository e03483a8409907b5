/**
 * The address of a project's page. A browser would read some slugs as a step up the path; those go into the
 * query.
 */
export function projectHref(slug: string): string {
  const segment = encodeURIComponent(slug.toWellFormed());
  return /^\.{0,2}$/.test(slug) ? `/project?slug=${segment}` : `/project/${segment}`;
}

/** The address of the feed of a project, or of all. */
export function feedHref(slug?: string): string {
  if (slug === undefined) return "/feed.atom";
  const href = projectHref(slug);
  return href.includes("?") ? withQuery("/feed.atom", { project: slug }) : `${href}/feed.atom`;
}

/** The address of a project's badge. */
export function badgeHref(slug: string): string {
  return `/badge/${encodeURIComponent(slug.toWellFormed())}.svg`;
}

export function buildHref(id: string): string {
  const segment = encodeURIComponent(id.toWellFormed());
  return /^\.{0,2}$/.test(id) ? `/build?id=${segment}` : `/build/${segment}`;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** A path with a query. Undefined values are left out. */
export function withQuery(path: string, query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  const search = parameters.toString();
  if (search === "") return path;
  return `${path}${path.includes("?") ? "&" : "?"}${search}`;
}

/**
 * The decoded last segment of a request's path after `prefix`. Null if it cannot be decoded. A closing slash
 * is allowed.
 */
export function segmentAfter(prefix: string, url: string): string | null {
  const { pathname } = new URL(url);
  const segment = pathname.slice(prefix.length).replace(/\/$/, "");
  if (!pathname.startsWith(prefix) || segment.includes("/")) return null;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
