import { UnexpectedShapeError } from "../../base/errors.ts";
import { jsonText } from "../../base/text.ts";
import { type LocalTime, parseLocalTime } from "../../resources/local-time.ts";
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
  /** Whether its records prove that the list is sorted. */
  showsOrder: boolean;
  /** The places of records that share the sort key of the record before. Absent when there are none. */
  ties?: readonly number[];
  /** Of a remembered page: its place is a guess, behind a rest in which the list moved so far (`Course.rest`). */
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

export type ParsedPage = Pick<FetchedPage, "meta" | "ids"> & { records: unknown[] };

/** Reads a reply as a page of a list. Throws `UnexpectedShapeError` when it has no `meta` or no `objects`. */
export function parseListPage(value: unknown, resource: Resource, url: string, source: Source): ParsedPage {
  const { meta, objects } = parseEnvelope(value, resource, url);
  const otherOf = (record: unknown) => otherResource(record, resource, source.baseUrl);
  const other = otherOf(objects[0]);
  // A reply of another request: of a connection that lost its order, or of a cache. A single record may be at fault itself.
  const isMany = objects.length > 1 || count(meta.total_count) === 1;
  if (other !== null && isMany && objects.every((record) => otherOf(record) === other))
    throw noPage(url, resource, `its records name themselves ${other.slice(0, 40)}`);
  if (resource === "build") markZonedDates(objects, source);
  return {
    meta: { ...readMeta(meta), count: objects.length, ...readOrder(resource, objects) },
    ids: objects.map((record) => placeId(record, resource, source.baseUrl)).filter((id) => id !== null),
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
    ...{ limit: count(limit), offset: count(offset), next, totalCount },
    ...(totalCount === null && { badTotal }),
  };
}

/** The id by which the walk knows a record. One of another resource is in its place too, but is none of the list's. */
function placeId(record: unknown, resource: Resource, baseUrl: URL): string | null {
  const id = recordId(record);
  const other = id === null ? null : otherResource(record, resource, baseUrl);
  return other === null ? id : `${other}/${id}`;
}

function count(told: unknown): number | null {
  const value = typeof told === "string" && /^\d{1,15}$/.test(told) ? Number(told) : told;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

const LOCAL_DATE = Symbol("a date that is not written as local time, as readDate reads it");

/** Done where the zone is known. The mark is none of the record's own keys, so that nobody stores or prints it. */
function markZonedDates(records: readonly unknown[], source: Source): void {
  for (const record of records) {
    const date = (record as { date?: unknown } | null)?.date;
    if (typeof date !== "string" || parseLocalTime(date)) continue;
    Object.defineProperty(record, LOCAL_DATE, { value: readDate(date, source) });
  }
}

function dateOf(record: unknown): LocalTime | null {
  const { date, [LOCAL_DATE]: local } = (record ?? {}) as { date?: unknown; [LOCAL_DATE]?: LocalTime | null };
  return local === undefined && typeof date === "string" ? parseLocalTime(date) : (local ?? null);
}

/**
 * Builds come newest first by `date`, which never changes, so dates that never rise prove the order. No other list has a
 * key that can be compared here: slugs and names are sorted by the service's database, users and files by no rule.
 */
export function readOrder(resource: Resource, records: readonly unknown[]) {
  if (resource !== "build") return { showsOrder: false };
  const ties: number[] = [];
  let later: bigint | null = null;
  for (const [at, record] of records.entries()) {
    const date = dateOf(record);
    if (date === null || (later !== null && date.microseconds > later)) return { showsOrder: false };
    if (date.microseconds === later) ties.push(at);
    later = date.microseconds;
  }
  return { showsOrder: true, ...(ties.length > 0 && { ties }) };
}

/** The dates of a page of builds, as texts of one length. Null where one has none, or the page does not show its order. */
export function datesOf(records: readonly unknown[]): string[] | null {
  const dates: string[] = [];
  for (const record of records) {
    const date = dateOf(record);
    if (date === null) return null;
    const text = date.text.includes(".") ? date.text : `${date.text}.000000`;
    if (text > (dates.at(-1) ?? text)) return null;
    dates.push(text);
  }
  return dates;
}

/** The number of records at the end of a page that share one sort key. 1 without ties, 0 on an empty page. */
export function tailOf(count: number, ties: readonly number[] = []): number {
  let tail = Math.min(1, count);
  for (let at = ties.length - 1; at >= 0 && ties[at] === count - tail; at--) tail += 1;
  return tail;
}
