import { UnexpectedShapeError } from "../../base/errors.ts";
import { jsonText } from "../../base/text.ts";
import { type LocalTime, parseLocalTime } from "../../resources/local-time.ts";
import { type Envelope, type PageRequest, readEnvelope, requestText } from "../../resources/page-request.ts";
import { otherResource, recordId } from "../../resources/record-id.ts";
import type { Resource } from "../../resources/resources.ts";
import type { Client } from "../api/client.ts";
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
function parseKnownMeta(
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

/** The most bytes asked for ahead. More is no faster: pages take longer to load than to arrive. */
const MOST_BYTES = 4.5 * 1024 * 1024;

export type LookAheadRoom = ReturnType<typeof createLookAheadRoom>;

/**
 * The memory for pages until they are stored, shared by all lists that are walked at the same time. A page asked for ahead
 * needs room (`take`); the page that a walk waits for takes it even where there is none (`hold`), so that each list goes on.
 */
export function createLookAheadRoom() {
  let left = MOST_BYTES;
  return {
    take(bytes: number): boolean {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    hold(bytes: number): void {
      left -= bytes;
    },
    give(bytes: number): void {
      left += bytes;
    },
    isOverdrawn: () => left < 0,
  };
}

/** The pages asked for ahead: twice the requests in flight, so that these go on while the walk waits. */
export const lookAheadOf = (concurrency: number) => 2 * concurrency;

/** A list that changes or is narrowed causes some wrong guesses. */
const FORGIVEN_MISSES = 3;
const HITS_PER_MISS = 16;

/** How often pages asked for ahead were wanted, or dropped: whether asking is still worth it. */
export function createGuessRecord() {
  let hits = 0;
  let misses = 0;
  return {
    hit(): void {
      hits += 1;
    },
    miss(): void {
      misses += 1;
    },
    get isGood(): boolean {
      return misses <= FORGIVEN_MISSES + hits / HITS_PER_MISS;
    },
  };
}

export type PageSource = ReturnType<typeof createPageSource>;

export interface PageSourceOptions {
  client: Client;
  resource: Resource;
  /** The most pages asked for ahead of the current one (`lookAheadOf`). */
  lookAhead: number;
  /** @default room of its own */
  room?: LookAheadRoom;
  /** Finds an earlier page with this `bodyHash`. @default there is none */
  recall?: (bodyHash: string) => Promise<RememberedPage | null>;
  /** A page that was just fetched: the first time that it is wanted, it is not asked for. */
  recent?: FetchedPage | null;
  signal?: AbortSignal;
}

interface Guess {
  request: PageRequest;
  page: Promise<FetchedPage>;
  bytes: number;
  abort: AbortController;
}

/** Asks ahead for pages that will probably come next, so that a slow line is used fully; not after too many wrong guesses. */
export function createPageSource(options: PageSourceOptions) {
  const { client, resource, lookAhead, recall, signal, room = createLookAheadRoom() } = options;
  let { recent = null } = options;
  const ahead = new Map<string, Guess>();
  const guesses = createGuessRecord();
  const giveUp = () => {
    for (const { abort } of ahead.values()) abort.abort(signal?.reason);
  };
  signal?.addEventListener("abort", giveUp, { once: true });

  type FoundPage = ParsedPage | (Pick<FetchedPage, "meta" | "ids" | "known"> & { records: null });

  async function fetchPage(
    request: string,
    until: AbortSignal | undefined,
    priority: number,
    retries?: number,
  ): Promise<FetchedPage> {
    const reply = await client.fetchJson<FoundPage>(request, {
      parse: (value, url) => parseListPage(value, resource, url, client),
      ...(recall && { recall: (hash) => recallPage(hash, recall) }),
      priority,
      ...(retries !== undefined && { retries }),
      ...(until && { signal: until }),
    });
    const { value, hash, bytes, sentAt, receivedAt, tookMs } = reply;
    return { ...value, request, bodyHash: hash, bytes, askedAt: sentAt, observedAt: receivedAt, tookMs };
  }

  async function recallPage(hash: string, find: NonNullable<typeof recall>) {
    const known = await find(hash);
    return (
      known &&
      ((envelope: unknown, url: string): FoundPage => {
        const { shift: _, ...same } = known.meta;
        const meta = envelope === null ? same : parseKnownMeta(envelope, known, resource, url);
        return { meta, ids: known.ids, records: null, known };
      })
    );
  }

  function drop(isVain: (request: PageRequest) => boolean): void {
    const vain = [...ahead].filter(([, { request }]) => isVain(request));
    if (vain.length === 0) return;
    guesses.miss();
    for (const [text, guess] of vain) {
      guess.abort.abort(new Error("another page was wanted"));
      remove(text, guess);
    }
  }

  function remove(text: string, { bytes }: Guess): void {
    ahead.delete(text);
    room.give(bytes);
  }

  return {
    /** Throws what the client throws. Pages asked for ahead stay, unless the walk has passed them or their size changed. */
    async take(request: PageRequest, retries?: number): Promise<FetchedPage> {
      const text = requestText(request);
      const known = recent?.request === text ? recent : null;
      recent = null;
      if (known) return known;
      const guess = ahead.get(text);
      if (guess) {
        guesses.hit();
        remove(text, guess);
        const giveUpThis = () => guess.abort.abort(signal?.reason);
        signal?.addEventListener("abort", giveUpThis, { once: true });
        return guess.page.finally(() => signal?.removeEventListener("abort", giveUpThis));
      }
      drop(({ limit, offset }) => limit !== request.limit || offset < request.offset);
      // Before the pages asked for ahead, because the walk waits for it.
      return fetchPage(text, signal, 1, retries);
    },
    lookAhead,
    /** Asks for the pages at these offsets, each as in `like`. Drops those asked for earlier that are not among them. */
    askAhead(offsets: readonly number[], like: PageRequest, pageBytes: number, retries?: number): void {
      const wanted = new Set(offsets);
      drop(({ limit, offset }) => limit !== like.limit || !wanted.has(offset));
      if (!guesses.isGood || signal?.aborted) return;
      for (const offset of offsets.slice(0, lookAhead)) {
        const request = { ...like, offset };
        const text = requestText(request);
        if (ahead.has(text)) continue;
        if (!room.take(pageBytes)) return;
        const abort = new AbortController();
        const page = fetchPage(text, abort.signal, 0, retries);
        // A failure matters only when the page is needed. `take` then throws it.
        page.catch(() => {});
        ahead.set(text, { request, page, bytes: pageBytes, abort });
      }
    },
    get pending(): number[] {
      return [...ahead.values()].map(({ request }) => request.offset);
    },
    isServiceUp: () => client.isUp(signal),
    close(): void {
      signal?.removeEventListener("abort", giveUp);
      for (const [text, guess] of ahead) {
        guess.abort.abort(new Error("the walk is over"));
        remove(text, guess);
      }
    },
  };
}
