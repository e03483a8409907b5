import { nearestNames } from "../../base/config/nearest-names.ts";
import { counted, grouped } from "../../base/text.ts";
import { resolveSpan } from "../../report/time-bounds.ts";
import { foreign, html, joined, type Markup, slugWords, type Target, targetWords } from "./html.ts";
import { icon } from "./marks.ts";

/** A browser would read some names as a step up the path; those go into the query. */
function hrefOf(path: string, key: string, name: string): string {
  const segment = encodeURIComponent(name.toWellFormed());
  return /^\.{0,2}$/.test(name) ? `${path}?${key}=${segment}` : `${path}/${segment}`;
}

/** The address of a project's page. */
export const projectHref = (slug: string): string => hrefOf("/project", "slug", slug);

/** The address of the feed of a project, or of all. */
export function feedHref(slug?: string): string {
  if (slug === undefined) return "/feed.atom";
  const href = projectHref(slug);
  return href.includes("?") ? withQuery("/feed.atom", { project: slug }) : `${href}/feed.atom`;
}

export const buildHref = (id: string): string => hrefOf("/build", "id", id);

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface Link {
  readonly href: string;
  readonly words: Markup | string;
}

/** Links in one line. */
export const renderLinks = (links: readonly Link[]): Markup =>
  joined(
    links.map(({ href, words }) => html`<a href="${href}">${words}</a>`),
    " · ",
  );

/** Links to the choices that a wrong one may mean. */
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
  return pathname.startsWith(prefix) && !segment.includes("/") ? decodeSegment(segment) : null;
}

/** Null if it cannot be decoded. */
export function decodeSegment(segment: string): string | null {
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

/** The version and the format of a build, beside the name of its project. */
export const targetTag = (target: Target): Markup => html`<span class="target">${targetWords(target)}</span>`;

/**
 * A link to an address that the service sent; null for what is no plain web address. The other side does not
 * learn from which page the reader came.
 */
export function outsideLink(address: unknown, words: Markup): Markup | null {
  const href = webAddress(address);
  return href === null ? null : html`<a href="${href}" rel="noreferrer nofollow">${words}</a>`;
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

/** The query of a URL. Spans in `since`, `until` and `day`, such as `7d`, become the moments that they mean now. */
export function readQuery(url: string, now: Date): URLSearchParams {
  const query = new URL(url).searchParams;
  for (const name of ["since", "until", "day"]) {
    const text = query.get(name);
    if (text !== null) query.set(name, resolveSpan(text, now));
  }
  return query;
}

const MOST_LENGTH = 200;

/** A choice as a text, trimmed and cut, without the zero characters that Postgres refuses; an empty one is none. */
export const readText = (query: URLSearchParams, name: string): string | undefined =>
  query.get(name)?.replaceAll("\0", "").trim().slice(0, MOST_LENGTH) || undefined;

/** The choice among the names of an object; undefined for any other text. */
export function readOneOf<Name extends string>(
  query: URLSearchParams,
  name: string,
  choices: Readonly<Record<Name, unknown>>,
): Name | undefined {
  return (Object.keys(choices) as Name[]).find((one) => one === query.get(name));
}

/** One of some choices: undefined stands for none of the others. */
export type Chip<Value> = readonly [value: Value, words: string, count?: number];

/** The attribute of a link to what is shown already. */
export const CURRENT = html` aria-current="true"`;

/** A choice as a row of links. `label` is its subject, for a screen reader. */
export const renderChips = <Value>(
  label: string,
  chips: readonly Chip<Value>[],
  chosen: Value,
  href: (value: Value) => string,
): Markup =>
  html`<nav class="chips" aria-label="${label}">${chips.map(
    ([value, words, count]) =>
      html`<a href="${href(value)}"${value === chosen && CURRENT}>${words}${
        count !== undefined && html` <span>${grouped(count)}</span>`
      }</a>`,
  )}</nav>`;

/** Hidden fields for what a form keeps. Undefined values are left out. */
export function keptFields(kept: Query): Markup {
  return html`${Object.entries(kept)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

interface SelectFacts {
  readonly id: string;
  /** The parameter of the query. */
  readonly name: string;
  readonly label: string;
  /** The words for no choice. */
  readonly any: string;
  readonly chosen: string | undefined;
  readonly options: readonly (readonly [value: string, words: string])[];
}

/** A field of a form to choose one of some values, or none. */
export const renderSelect = ({ id, name, label, any, chosen, options }: SelectFacts): Markup =>
  html`<label for="${id}">${label}</label>
    <select id="${id}" name="${name}"><option value="">${any}</option>${options.map(
      ([value, words]) =>
        html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`,
    )}</select>`;

/** The number of the page that a query asks for, from 1. Any other text is page 1. */
export function readPageNumber(query: URLSearchParams): number {
  const page = Number(query.get("page"));
  return Number.isSafeInteger(page) && page > 0 ? Math.min(page, 1_000_000) : 1;
}

interface PagerFacts {
  readonly path: string;
  readonly kept: Query;
  /** From 1. */
  readonly page: number;
  readonly perPage: number;
  readonly total: number;
  /** The name of a row, such as "project". */
  readonly noun: string;
}

/** The numbers of the rows that are shown, and links to the other pages. Nothing where all rows are shown. */
export function renderPager({ path, kept, page, perPage, total, noun }: PagerFacts): Markup | string {
  if (total <= perPage) return "";
  const last = Math.ceil(total / perPage);
  const first = (page - 1) * perPage + 1;
  const href = (to: number) => withQuery(path, { ...kept, page: to === 1 ? undefined : to });
  const step = (to: number, rel: "prev" | "next", words: string) =>
    to < 1 || to > last
      ? html`<span class="off">${icon(rel)}<span class="unseen">No ${words}</span></span>`
      : html`<a href="${href(to)}" rel="${rel}">${icon(rel)}<span class="unseen">${words}</span></a>`;
  const numbers = shownPages(page, last).map((to) =>
    to === null
      ? html`<span aria-hidden="true">…</span>`
      : html`<a href="${href(to)}"${to === page && html` aria-current="page"`}><span class="unseen">Page </span>${grouped(to)}</a>`,
  );
  return html`<nav class="pager" aria-label="Pages of the list">
    <span class="pager-n">${grouped(first)}–${grouped(Math.min(total, page * perPage))} of
    ${counted(total, noun)}</span><span class="pager-p">${step(page - 1, "prev", "page before")}${numbers}${step(page + 1, "next", "page after")}</span></nav>`;
}

/** The first, the last, and those around the shown one; null stands for those left out. */
export function shownPages(page: number, last: number): (number | null)[] {
  const near = [1, page - 1, page, page + 1, last, ...(page <= 2 ? [2, 3] : [])];
  const numbers = [...new Set(near)].filter((one) => one >= 1 && one <= last).sort((a, b) => a - b);
  return numbers.flatMap((one, place) => {
    const before = numbers[place - 1];
    return before !== undefined && one > before + 1 ? [null, one] : [one];
  });
}

/** The choices that a wrong one may mean, by their values or by the labels that readers see; nearest first. */
export function nearestChoices<Value extends string>(
  wrong: string,
  values: readonly Value[],
  labelOf: (value: Value) => string,
): Value[] {
  const byName = new Map<string, Value>();
  for (const value of values) byName.set(labelOf(value), value);
  // A value that is another one's label means itself.
  for (const value of values) byName.set(value, value);
  const nearest = nearestNames(wrong, byName.keys()).flatMap((name) => byName.get(name) ?? []);
  return [...new Set(nearest)];
}
