import { type Reply, UnexpectedShapeError } from "../base/errors.ts";
import { isSameEndpoint } from "../mirror/api/api-url.ts";
import { type PageRequest, readEnvelope, readNext, requestText } from "../resources/page-request.ts";
import { isJsonObject } from "../resources/parse-json.ts";
import { type Extra, extraOf, unexpectedShape } from "./parse-record.ts";

/** The place of a page in its list (`docs/interface.md`, "Lists"). What is no whole number from 0 on is null. */
export interface PageMeta {
  readonly limit: number | null;
  readonly offset: number | null;
  readonly next: string | null;
  readonly previous: string | null;
  /** The number of records of the list. Each page has its own count. */
  readonly total_count: number | null;
  readonly extra: Extra;
}

/** The two parts of a page, in the words of the service (`docs/interface.md`, "Lists"). */
export interface PageParts<T> {
  readonly meta: PageMeta;
  readonly objects: readonly T[];
}

/** One page of a list, with the reply that brought it. */
export interface ListPage<T> extends PageParts<T> {
  readonly reply: Reply;
}

const META = ["limit", "offset", "next", "previous", "total_count"];

/** Reads a page. Throws `UnexpectedShapeError` when it has no `meta.next` or no `objects`. */
export function parsePage<T>(value: unknown, url: string, parseObject: (object: unknown) => T): PageParts<T> {
  const envelope = readEnvelope(value);
  if ("fault" in envelope)
    throw unexpectedShape(url, `it is no page of a list ({"meta": …, "objects": […]}): ${envelope.fault}`);
  const { meta, objects } = envelope;
  return {
    meta: {
      limit: wholeNumber(meta.limit),
      offset: wholeNumber(meta.offset),
      next: meta.next,
      previous: typeof meta.previous === "string" ? meta.previous : null,
      total_count: wholeNumber(meta.total_count),
      extra: extraOf(meta, META),
    },
    objects: objects.map(parseObject),
  };
}

/** Reads `{"objects": […]}`, as the searches of v1 answer. Throws `UnexpectedShapeError` for anything else. */
export function parseObjects<T>(value: unknown, url: string, parseObject: (object: unknown) => T): T[] {
  const objects = isJsonObject(value) ? value.objects : undefined;
  if (!Array.isArray(objects)) throw unexpectedShape(url, 'it has no hits ({"objects": […]})');
  return objects.map(parseObject);
}

function wholeNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** No list is longer. It ends the reading of a service that invents records without end. */
const MAX_PAGES = 1_000_000;

interface PageList<Page> {
  /** The first page to ask for. Its path and its parameters stay; only limit and offset change. */
  first: PageRequest;
  otherPaths: readonly string[];
  baseUrl: URL;
  fetchPage(path: string): Promise<Page>;
}

/**
 * The pages of a list, one request at a time, until `next` is null. Follows `docs/internals/service.md`, "Paging".
 * A full page shows no end, because services compute `next` from a count that may be old: one page more is
 * asked for, and belongs to the list if it has a record that the full page lacks. Throws
 * `UnexpectedShapeError` when `next` leaves the list or does not lead forward: a short list never looks like
 * a whole one. Always ends.
 */
export async function* listPages<Page extends PageParts<{ readonly id: string }>>({
  first,
  otherPaths,
  baseUrl,
  fetchPage,
}: PageList<Page>): AsyncGenerator<Page, void, undefined> {
  const paths = [first.path, ...otherPaths];
  const isListPath = (path: string) => paths.some((own) => isSameEndpoint(path, own, baseUrl));
  let at = first;
  let idsBefore: Set<string> | null = null;
  for (let pages = 1; ; pages++) {
    const page = await fetchPage(requestText(at));
    const count = page.objects.length;
    const next = readNext(page.meta.next, at, isListPath);
    const isLast = next.leads === "nowhere";
    // Some services answer the last page again for a place after the end.
    if (isLast && idsBefore && page.objects.every(({ id }) => idsBefore?.has(id))) return;
    yield page;
    if (isLast && !isFull(page, at)) return;
    if (next.leads !== "on" && next.leads !== "nowhere")
      throw brokenList(at, `its next page ${next.text} ${FAULTS[next.leads]}`);
    if (count === 0) throw brokenList(at, `the page is empty, but has a next page, ${next.text}`);
    if (pages === MAX_PAGES) throw brokenList(at, `it goes on after ${MAX_PAGES} pages`);
    // A server that sent fewer records may have cut the limit. A short page leaves no gap.
    const limit = count < at.limit ? Math.min(at.limit, Math.max(count, next.limit)) : at.limit;
    const end = at.offset + count;
    at = { ...at, limit, offset: isLast ? end : Math.min(next.offset, end) };
    idsBefore = isLast ? new Set(page.objects.map(({ id }) => id)) : null;
  }
}

/** The page has as many records as were asked for, or as the service says that it gives. */
function isFull({ meta, objects }: PageParts<unknown>, { limit }: PageRequest): boolean {
  return objects.length > 0 && objects.length >= Math.min(limit, meta.limit ?? limit);
}

const FAULTS = {
  unclear: "names no limit and offset",
  elsewhere: "is not in this list",
  back: "does not lead forward",
} as const;

function brokenList(at: PageRequest, fault: string): UnexpectedShapeError {
  const request = requestText(at);
  return new UnexpectedShapeError(`the list cannot be read on from ${request}: ${fault}`, {
    url: request,
    hint: "the records before this place came; those after it did not",
  });
}
