import type { Context } from "hono";
import { foreign, html, type Markup, slugWords, targetWords } from "./html.ts";

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

export function buildHref(id: string): string {
  const segment = encodeURIComponent(id.toWellFormed());
  return /^\.{0,2}$/.test(id) ? `/build?id=${segment}` : `/build/${segment}`;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface Link {
  readonly href: string;
  readonly words: Markup | string;
}

/** Links in one line. */
export function renderLinks(links: readonly Link[]): Markup {
  return html`${links.map(({ href, words }, place) => html`${place > 0 ? " · " : ""}<a href="${href}">${words}</a>`)}`;
}

/** Links to what a wrong choice may mean. */
export const meantLinks = <Value>(
  nearest: readonly Value[],
  href: (value: Value) => string,
  words: (value: Value) => Markup | string,
): Link[] => nearest.map((value) => ({ href: href(value), words: html`Did you mean ${words(value)}?` }));

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

/** A project by its slug. */
export const projectLink = (slug: unknown): Markup =>
  html`<a href="${projectHref(String(slug))}">${slugWords(slug)}</a>`;

/** A build by its id. */
export const buildLink = (id: unknown): Markup =>
  html`<a href="${buildHref(String(id))}">${foreign(String(id), 24)}</a>`;

/** What was built, beside the name of its project. */
export const targetTag = (row: { readonly version_slug?: unknown; readonly type?: unknown }): Markup =>
  html`<span class="target">${targetWords(row.version_slug, row.type)}</span>`;

/**
 * The scheme, host and port under which the reader asked. The server has checked the host. A proxy that ends
 * TLS names the scheme; its `X-Forwarded-Host` is not read, because any client can send one.
 */
export function originOf(c: Context): string {
  const { protocol, host } = new URL(c.req.url);
  return `${c.req.header("x-forwarded-proto") === "https" ? "https:" : protocol}//${host}`;
}

/**
 * A link to an address that the service sent; null for what is no plain web address. The other side does not
 * learn from which page the reader came.
 */
export function outsideLink(address: unknown, words: Markup): Markup | null {
  const href = webAddress(address);
  return href === null ? null : html`<a href="${href}" rel="noreferrer nofollow">${words}</a>`;
}

/** An address as a text, which is a link where it is a web address. */
export function addressText(address: string): Markup {
  const text = foreign(address, 200);
  return outsideLink(address, text) ?? text;
}

/**
 * An address that a page may link to, as the browser understands it; null for what is none, has a password, or leads to
 * another place than the web. Real servers leave out the colon of some.
 */
export function webAddress(text: unknown, base?: string): string | null {
  if (typeof text !== "string" || text.trim() === "") return null;
  const address = text.trim().replace(/^(https?)\/\//i, "$1://");
  if (!URL.canParse(address, base)) return null;
  const { protocol, username, password, href } = new URL(address, base);
  const isPlain = (protocol === "http:" || protocol === "https:") && username === "" && password === "";
  return isPlain && href.length <= 2000 ? href : null;
}
