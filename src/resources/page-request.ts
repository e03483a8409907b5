import { isJsonObject } from "./parse-json.ts";

/** A request for one page of a list. */
export interface PageRequest {
  path: string;
  limit: number;
  offset: number;
  /** Parameters other than limit and offset, sorted by name: equal requests have equal texts. */
  others: string;
}

export function firstRequest(listPath: string, limit: number): PageRequest {
  return { path: listPath, limit, offset: 0, others: "format=json" };
}

/** Reads a `next` link on a page at `path`. Null when it has no limit, or when its offset is not a number. */
export function parsePageRequest(link: string, path = "/"): PageRequest | null {
  const base = new URL(path, "http://base.invalid");
  if (!URL.canParse(link, base.href)) return null;
  const url = new URL(link, base);
  const limit = wholeNumber(url.searchParams.get("limit"));
  const offset = url.searchParams.has("offset") ? wholeNumber(url.searchParams.get("offset")) : 0;
  if (limit === null || offset === null) return null;
  url.searchParams.delete("limit");
  url.searchParams.delete("offset");
  url.searchParams.set("format", "json");
  url.searchParams.sort();
  const origin = url.host === "base.invalid" ? "" : url.origin;
  return { path: origin + url.pathname, limit, offset, others: url.searchParams.toString() };
}

/** The path and query to ask for. Equal requests have equal texts. */
export function requestText(request: PageRequest): string {
  const offset = request.offset === 0 ? "" : `&offset=${request.offset}`;
  return `${request.path}?${request.others}&limit=${request.limit}${offset}`;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/**
 * One list reply (`docs/interface.md`, "Lists"). Without `next` and `objects` it is no page, and reading it as the last one
 * would end a walk early. The other fields may hold anything.
 */
export interface Envelope {
  readonly meta: {
    readonly next: string | null;
    readonly limit?: unknown;
    readonly offset?: unknown;
    readonly total_count?: unknown;
    readonly [unknownField: string]: unknown;
  };
  readonly objects: unknown[];
}

/** Reads a list reply. For anything else `fault` says which part is wrong, and what came in its place. */
export function readEnvelope(value: unknown): Envelope | { fault: string } {
  if (!isJsonObject(value)) return fault("the reply", "object", value);
  const { meta, objects } = value;
  if (!isJsonObject(meta)) return fault("meta", "object", meta);
  const { next } = meta;
  if (typeof next !== "string" && next !== null) return fault("meta.next", "string", next);
  if (!Array.isArray(objects)) return fault("objects", "array", objects);
  // Postgres stores the page and cannot hold U+0000 and lone surrogates.
  const storable = next?.replaceAll("\u0000", "\uFFFD").toWellFormed() ?? null;
  return { meta: { ...meta, next: storable }, objects };
}

function fault(where: string, expected: string, value: unknown): { fault: string } {
  return { fault: `${where}: Invalid input: expected ${expected}, received ${kindOf(value)}` };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return typeof value;
}

/** Messages show a `next` up to this length. */
const SHOWN_LENGTH = 200;

/** The place that the `next` of a page leads to. */
export interface NextLink {
  /**
   * `nowhere`: it is null, the list ends here. `unclear`: it names no page by limit and offset. `elsewhere`:
   * it leaves the list. `back`: to this page or an earlier one. `on`: forward in this list.
   */
  leads: "nowhere" | "unclear" | "elsewhere" | "back" | "on";
  /** The link as it came, shortened and in quotes. */
  text: string;
  limit: number;
  offset: number;
}

/** Reads the `next` of the page at `at`. */
export function readNext(
  next: string | null,
  at: PageRequest,
  isListPath: (path: string) => boolean,
): NextLink {
  const text = next === null ? "null" : `'${next.slice(0, SHOWN_LENGTH)}'`;
  const named = next === null ? null : parsePageRequest(next, at.path);
  if (!named) return { leads: next === null ? "nowhere" : "unclear", text, limit: 0, offset: 0 };
  const { path, limit, offset } = named;
  return { leads: !isListPath(path) ? "elsewhere" : offset > at.offset ? "on" : "back", text, limit, offset };
}
