import type { FileHitRecord, FoundDocs, RecordTypes, Resource } from "../../resources/resources.ts";

/** One condition on a list: equality. The path leads to a field that may have this value. */
export interface Filter {
  /** The compared field, after the references that lead to it: `["state"]`, `["project", "slug"]`. */
  path: readonly string[];
  /** A text, a boolean, a date as `LocalTime.text`, or the id of the referenced record. */
  value: string | boolean;
}

/** A slice of a list. All filters apply together. An `offset` behind the end gives no records. */
export interface ListRequest {
  filters: readonly Filter[];
  offset: number;
  limit: number;
}

export interface Slice<R> {
  records: readonly R[];
  /** The number of records that match the filters, counted again for each slice. */
  totalCount: number;
  /** The revision of the list that the slice was read from. Undefined promises nothing. */
  revision?: string | undefined;
}

/** The source of the protocol's replies. It returns records as they are on the wire. A rejected promise becomes a 500. */
export interface Catalog {
  /** Records in the order of their list. Hidden records are not in it and not counted. */
  list<R extends Resource>(resource: R, query: ListRequest): Promise<Slice<RecordTypes[R]>>;
  /** One record by its id. Undefined when there is none, or when the lists hide it. */
  find<R extends Resource>(resource: R, id: string): Promise<RecordTypes[R] | undefined>;
  /**
   * Files whose content contains `q`, each with a snippet: one page of at most 20. `q` is never empty. Pages
   * count from 1; a page behind the end is empty.
   */
  searchFiles(query: { q: string; page: number }): Promise<readonly FileHitRecord[]>;
  /** Addresses of the anchors whose text contains `q`. `q` is never empty. */
  searchAnchors(q: string): Promise<readonly string[]>;
  /** Undefined when there is no such project. An unknown version has no hits. */
  searchDocs(query: { project: string; version: string; q: string }): Promise<FoundDocs | undefined>;
  /** The stored schema reply of a resource. Without it the protocol makes one from the documented fields. */
  schema?(resource: Resource): Promise<unknown>;
  /**
   * Identifies the current content of a resource's list. Slices of equal revisions are equal, so cached
   * replies may be sent again. Undefined promises nothing.
   */
  revision?(resource: Resource): Promise<string | undefined>;
  /**
   * When the data of a resource's replies last changed: its list, its details, and the records embedded in
   * them. A server sends it as `Last-Modified`. It is asked before the reply is read, for each request, so it
   * must be cheap. Undefined when that is not known, or less than `settledMs` ago by the clock that dated it.
   * @default any change counts
   */
  lastModified?(resource: Resource, settledMs?: number): Promise<Date | undefined>;
  /** The path below which the mirrored service stood, without a closing slash. Empty when there was none. */
  basePath?(): Promise<string>;
}

/** A request that is refused: 400 with `{"error": message}`. */
export class Refusal extends Error {
  override name = "Refusal";
}

/** A catalog does not know the whole list, or not this record of it, yet. An answer would look like deletions. */
export class NotReadyError extends Error {
  override name = "NotReadyError";
}
