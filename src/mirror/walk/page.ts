import { UnexpectedShapeError } from "../../base/errors.ts";
import { jsonText } from "../../base/text.ts";
import { type Envelope, readEnvelope } from "../../resources/page-request.ts";
import { otherResource, recordId } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import { readDate, type Source } from "./read-date.ts";

/** The envelope of a page; null for what is no number of records. And what its records say about their order. */
export interface ParsedMeta {
  limit: number | null;
  offset: number | null;
  next: string | null;
  totalCount: number | null;
  /** The value that came instead of a count, shortened. */
  badTotal?: string;
  count: number;
  /** True where its records prove that the list is sorted. */
  showsOrder: boolean;
  /** The places of records that share the sort key of the record before. Absent when there are none. */
  ties?: readonly number[];
  /** On a remembered page: its place was a guess, behind a rest in which the list moved so far (`Course.rest`). */
  shift?: number;
}

/** A record that the service cannot render. Only its place in the list is known. */
export interface Hole {
  offset: number;
  request: string;
  reason: string;
}

export interface FetchedPage {
  /** The requested path and query. */
  request: string;
  meta: ParsedMeta;
  /** The ids on the page in its order; records without one are left out. That of another resource's record has its name in front. */
  ids: string[];
  /** Those of builds, in the order of the page (`readDates`). Null when one has none, when the page is `known`, and for other lists. */
  dates: readonly string[] | null;
  /** Null when the page is `known`: its records are stored already. */
  records: unknown[] | null;
  /** The page of an earlier walk with the same records. */
  known?: RememberedPage;
  bodyHash: string;
  bytes: number;
  /** The content of the page is of a moment between these two. */
  askedAt: Date;
  observedAt: Date;
  tookMs: number;
}

export interface Page extends FetchedPage {
  resource: Resource;
  seq: number;
  holes: Hole[];
  isAnchored: boolean;
  following: string | null;
}

/** A page of an earlier walk, or of an earlier part of this one, as it is remembered. */
export interface RememberedPage extends Pick<FetchedPage, "request" | "bodyHash" | "meta" | "ids"> {
  seq: number;
  /** When its reply arrived, as in `changed_at` of its records, and in which run. */
  loadedAt: string;
  runId: number;
}

export type ParsedPage = Pick<FetchedPage, "meta" | "ids" | "dates"> & { records: unknown[] };

/** Reads a reply as a page of a list. Throws `UnexpectedShapeError` when it has no `meta` or no `objects`. */
export function parseListPage(value: unknown, resource: Resource, url: string, source: Source): ParsedPage {
  const { meta, objects } = parseEnvelope(value, resource, url);
  const otherOf = (record: unknown) => otherResource(record, resource, source.baseUrl);
  const other = otherOf(objects[0]);
  // A reply of another request: of a connection that lost its order, or of a cache. A single record may be at fault itself.
  const isMany = objects.length > 1 || count(meta.total_count) === 1;
  if (other !== null && isMany && objects.every((record) => otherOf(record) === other))
    throw noPage(url, resource, `its records name themselves ${other.slice(0, 40)}`);
  const dates = resource === "build" ? readDates(objects, source) : null;
  return {
    meta: { ...readMeta(meta), count: objects.length, ...readOrder(dates) },
    ids: objects.map((record) => placeId(record, resource, source.baseUrl)).filter((id) => id !== null),
    dates,
    records: objects,
  };
}

/** The `meta` of a new reply with the records of a known page. */
export function parseKnownMeta(
  envelope: unknown,
  { meta: { count, showsOrder, ties } }: RememberedPage,
  resource: Resource,
  url: string,
): ParsedMeta {
  const { meta } = parseEnvelope(envelope, resource, url);
  return { ...readMeta(meta), count, showsOrder, ...(ties && { ties }) };
}

function parseEnvelope(value: unknown, resource: Resource, url: string): Envelope {
  const envelope = readEnvelope(value);
  if (!("fault" in envelope)) return envelope;
  throw noPage(url, resource, envelope.fault);
}

function noPage(url: string, resource: Resource, fault: string): UnexpectedShapeError {
  const hint =
    "nothing from this reply was stored; if this stays so, the service no longer has this interface";
  const should = `GET ${url} should answer with a page ({"meta": …, "objects": […]})`;
  return new UnexpectedShapeError(`${resource} list: ${should}, but ${fault}`, { url, hint });
}

function readMeta({ limit, offset, next, total_count: total }: Envelope["meta"]) {
  const totalCount = count(total);
  const badTotal = total === undefined ? "missing" : jsonText(total, 60).toWellFormed();
  return {
    limit: count(limit),
    offset: count(offset),
    next,
    totalCount,
    ...(totalCount === null && { badTotal }),
  };
}

/** The id by which the walk knows a record. One of another resource is in its place too, but is none of the list's. */
function placeId(record: unknown, resource: Resource, baseUrl: URL): string | null {
  const id = recordId(record);
  const other = id === null ? null : otherResource(record, resource, baseUrl);
  return other === null ? id : `${other}/${id}`;
}

function count(sent: unknown): number | null {
  const value = typeof sent === "string" && /^\d{1,15}$/.test(sent) ? Number(sent) : sent;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/**
 * The dates of builds as local time of the service, as texts of one length, so that they compare as the moments do. Null
 * where one of them has none.
 */
export function readDates(records: readonly unknown[], source: Source): string[] | null {
  const dates: string[] = [];
  for (const record of records) {
    const { date } = (record ?? {}) as { date?: unknown };
    const local = readDate(date, source);
    if (local === null) return null;
    dates.push(local.text.includes(".") ? local.text : `${local.text}.000000`);
  }
  return dates;
}

/** True where no date is later than the one before. */
export const isNewestFirst = (dates: readonly string[]) =>
  dates.every((date, at) => date <= (dates[at - 1] ?? date));

/** The dates of a page that shows its order. Null where it does not. */
export const shownDates = ({ meta, dates }: Pick<FetchedPage, "meta" | "dates">) =>
  meta.showsOrder ? dates : null;

/**
 * Builds come newest first by `date`, which never changes, so dates that never rise prove the order. No other list has a
 * key that can be compared here: slugs and names are sorted by the service's database, users and files by no rule.
 */
function readOrder(dates: readonly string[] | null): Pick<ParsedMeta, "showsOrder" | "ties"> {
  if (dates === null || !isNewestFirst(dates)) return { showsOrder: false };
  const ties = dates.flatMap((date, at) => (date === dates[at - 1] ? [at] : []));
  return { showsOrder: true, ...(ties.length > 0 && { ties }) };
}

/** The number of records at the end of a page that share one sort key. 1 without ties, 0 on an empty page. */
export function tailOf(count: number, ties: readonly number[] = []): number {
  let tail = Math.min(1, count);
  for (let at = ties.length - 1; at >= 0 && ties[at] === count - tail; at--) tail += 1;
  return tail;
}
