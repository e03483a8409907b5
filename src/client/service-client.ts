/// <reference lib="esnext.disposable" preserve="true" />
import type { Reply } from "../base/errors.ts";
import type { Resource } from "../resources/resources.ts";
import type { CallOptions } from "./client-options.ts";
import { assertCount, type DocSearch, type Filters, type OtherFilters } from "./endpoint-path.ts";
import type { ListPage } from "./list-pages.ts";
import type { Build, FileHit, RecordOf, Version } from "./parse-record.ts";
import type { DocHits, ResourceSchema, RootListing } from "./parse-replies.ts";

interface ListFilters<R extends Resource> extends CallOptions {
  filters?: Filters<R> | undefined;
  otherFilters?: OtherFilters | undefined;
}

export interface PageQuery<R extends Resource> extends ListFilters<R> {
  /** Records a page. The service cuts a larger one, usually to 1000; 0 asks for its maximum. @default 20 */
  limit?: number | undefined;
  /** The number of records before the page. @default 0 */
  offset?: number | undefined;
}

export interface ListQuery<R extends Resource> extends ListFilters<R> {
  /** Records a page, 1 to 1000. @default 100 */
  pageSize?: number | undefined;
  /** The number of records to leave out at the start of the list, to go on with an earlier reading. @default 0 */
  offset?: number | undefined;
}

export interface FileSearchOptions extends CallOptions {
  /**
   * The page of hits, from 1. It is not documented: a service that does not know it gives the first hits.
   * @default the service's, the first
   */
  page?: number | undefined;
}

/**
 * The service as functions, one for each kind of endpoint (`docs/interface.md`, "Endpoints"). All calls share
 * one even rate. A call may be repeated: every request is a GET.
 *
 * Each call may reject with `HttpStatusError` (a status that is no success), `NetworkError` (no reply),
 * `TimeoutError` (no whole reply in time), all three after the retries that may help, `UnexpectedShapeError`
 * (a reply that does not follow the interface), and with the reason of its `signal`. Where a reply came, the error
 * has it as `reply`, and its `body`. Options that cannot be used are a `ConfigError`. When even the root of
 * the service stays unreachable, the client gives the service up: every later call rejects at once. A program
 * that lives longer makes a new client.
 */
export interface ServiceClient extends AsyncDisposable {
  /** Without its user and password. */
  readonly baseUrl: string;

  /** The resources of the service and their endpoints. Follows `docs/interface.md`, "Root listing". */
  fetchRoot(options?: CallOptions): Call<RootListing>;

  /** One page of a list, with its `meta` and its reply. Follows `docs/interface.md`, "Lists". */
  fetchPage<R extends Resource>(resource: R, query?: PageQuery<R>): Promise<ListPage<RecordOf[R]>>;

  /**
   * The records of a list in its order, one page in memory at a time; the next page is asked for when the
   * records of the last one are used. Breaking the loop ends it. Follows `docs/internals/service.md`, "Paging".
   *
   * Builds come with the newest first. A list that changes while it is read may repeat records or skip some;
   * where nothing sorts a list, each page may have another order. Compare ids where it matters: only
   * `docmirror sync` proves that a reading was whole. It ends where `next` is null on a page that is not full,
   * or no other record follows, whatever `total_count` says. Throws `UnexpectedShapeError` for a `next` that
   * leads elsewhere or nowhere.
   */
  list<R extends Resource>(resource: R, query?: ListQuery<R>): RecordList<RecordOf[R]>;

  listPages<R extends Resource>(
    resource: R,
    query?: ListQuery<R>,
  ): AsyncGenerator<ListPage<RecordOf[R]>, void, undefined>;

  /**
   * One record by its id; a project also by its slug. Follows `docs/internals/service.md`, "Details". Digits are
   * always an id. Rejects with `NotFoundError` when the service has no such record. For a version, the slug
   * of a project gives a list: use `versionsOf`.
   */
  fetchRecord<R extends Resource>(resource: R, idOrSlug: string, options?: CallOptions): Call<RecordOf[R]>;

  /**
   * The versions of a project, by its slug, as `/api/v1/version/SLUG/` lists them. Follows
   * `docs/internals/service.md`, "Details". Like `list` in all else. An unknown slug gives no version and no error.
   */
  versionsOf(
    projectSlug: string,
    query?: Omit<ListQuery<"version">, "filters" | "otherFilters">,
  ): RecordList<Version>;

  /** The builds of a project, by its slug, with the newest first. Like `list` in all else. An unknown slug gives none. */
  buildsOf(
    projectSlug: string,
    query?: Omit<ListQuery<"build">, "filters" | "otherFilters">,
  ): RecordList<Build>;

  /** The fields of a resource as the service describes them. Follows `docs/interface.md`, "Endpoints". */
  fetchSchema(resource: Resource, options?: CallOptions): Call<ResourceSchema>;

  /**
   * Files whose text has the words, each with a snippet. Follows `docs/interface.md`, "Searches". The snippet
   * is HTML that users wrote: escape it before it is shown.
   */
  searchFiles(q: string, options?: FileSearchOptions): Call<FileHit[]>;

  /**
   * Addresses of pages with an anchor of that text. Follows `docs/interface.md`, "Searches". Some services
   * leave out the colon of `http://`; the addresses are given as they came.
   */
  searchAnchors(q: string, options?: CallOptions): Call<string[]>;

  /**
   * Pages of one version of a project, the best first. Follows `docs/interface.md`, "Searches". Rejects with
   * `NotFoundError` when the service does not know the project.
   */
  searchDocs(search: DocSearch, options?: CallOptions): Call<DocHits>;

  /** Requests sent, retries included, and body bytes received, since the client was made. */
  stats(): { requests: number; bytes: number };

  /** Frees the connections. Running and later calls reject. May be called twice; `await using` calls it. */
  close(): Promise<void>;
}

/** The value of a call, with the reply that brought it. */
export interface Answer<T> {
  readonly value: T;
  readonly reply: Reply;
}

/** The promise of a value, which can be had with its reply too. */
export interface Call<T> extends Promise<T> {
  /** The value with status, headers and request id of the reply: `await service.fetchRoot().withReply()`. */
  withReply(): Promise<Answer<T>>;
}

export function callOf<T>(answer: Promise<Answer<T>>): Call<T> {
  const value = answer.then((came) => came.value);
  return Object.assign(value, {
    withReply() {
      // The answer alone tells a caller who asks for both of the failure.
      value.catch(() => {});
      return answer;
    },
  });
}

/** The records of a list, each when it is asked for. */
export interface RecordList<T> extends AsyncGenerator<T, void, undefined> {
  /**
   * The first records as an array, `max` at most, and no page more than they need. As many as `max` may mean that the
   * list has more. Rejects as the list does.
   */
  toArray(options: { max: number }): Promise<T[]>;
}

export function recordList<T>(records: AsyncGenerator<T, void, undefined>): RecordList<T> {
  return Object.assign(records, {
    async toArray(options: { max: number }) {
      // Programs in JavaScript may leave the options out.
      const max = options?.max;
      assertCount("max", max, 1);
      const found: T[] = [];
      for await (const record of records) if (found.push(record) >= max) break;
      return found;
    },
  });
}
