import type { Build } from "../wire/build.ts";
import type { DocHits } from "../wire/doc-hits.ts";
import type { File, FileHit } from "../wire/file.ts";
import type { Project } from "../wire/project.ts";
import type { Resource } from "../wire/resources.ts";
import type { User } from "../wire/user.ts";
import type { Version } from "../wire/version.ts";

export type { DocHit, DocHits } from "../wire/doc-hits.ts";

export interface RecordTypes {
  user: User;
  project: Project;
  version: Version;
  file: File;
  build: Build;
}

/**
 * One condition on a list. The protocol has checked it: the field belongs to the requested resource and may
 * be filtered. `project` and `users` hold the id of the referenced record, `project__slug` its slug.
 */
export type Filter =
  | { field: "project" | "project__slug" | "slug" | "state" | "type" | "users" | "username"; value: string }
  | { field: "active"; value: boolean };

/** A slice of a list. All filters apply together. An `offset` behind the end gives no records. */
export interface ListQuery {
  filters: readonly Filter[];
  offset: number;
  limit: number;
}

export interface Slice<R> {
  records: readonly R[];
  /** How many records match the filters, counted again for each slice. */
  totalCount: number;
}

/**
 * The source of the protocol's replies. It returns records as they are on the wire. The protocol adds
 * envelopes, status codes and refusals. A rejected promise becomes a 500.
 */
export interface Catalog {
  /** Records in the order of their list. Hidden records are not in it and not counted. */
  list<R extends Resource>(resource: R, query: ListQuery): Promise<Slice<RecordTypes[R]>>;
  /** One record by its id. Undefined when there is none, or when the lists hide it. */
  find<R extends Resource>(resource: R, id: string): Promise<RecordTypes[R] | undefined>;
  /** Files whose content contains `q`, each with a snippet. `q` is never empty. */
  searchFiles(q: string): Promise<readonly FileHit[]>;
  /** Addresses of the anchors whose text contains `q`. `q` is never empty. */
  searchAnchors(q: string): Promise<readonly string[]>;
  /** Undefined when there is no such project. An unknown version has no hits. */
  searchDocs(query: { project: string; version: string; q: string }): Promise<DocHits | undefined>;
  /** The stored schema reply of a resource. Without it the protocol makes one from the documented fields. */
  schema?(resource: Resource): Promise<unknown>;
  /**
   * Identifies the current content of a resource's list. Two equal answers promise that every slice between
   * them was the same, so cached replies may be sent again. Undefined promises nothing.
   */
  revision?(resource: Resource): string | undefined;
}
