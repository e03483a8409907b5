import type { Build } from "../wire/build.ts";
import type { File, FileHit } from "../wire/file.ts";
import type { Project } from "../wire/project.ts";
import type { Resource } from "../wire/resources.ts";
import type { User } from "../wire/user.ts";
import type { Version } from "../wire/version.ts";

export interface RecordTypes {
  user: User;
  project: Project;
  version: Version;
  file: File;
  build: Build;
}

/**
 * One condition on a list, already checked by the protocol: the field belongs to the resource asked for and may be
 * filtered. `project` and `users` hold the id of the record pointed to, `project__slug` its slug.
 */
export type Filter =
  | { field: "project" | "project__slug" | "slug" | "state" | "type" | "users" | "username"; value: string }
  | { field: "active"; value: boolean };

/** A slice of a list. All filters hold at once; `offset` may lie behind the end, then no record comes back. */
export interface ListQuery {
  filters: readonly Filter[];
  offset: number;
  limit: number;
}

export interface Slice<R> {
  records: readonly R[];
  /** How many records the filters let through, counted anew for each slice. */
  totalCount: number;
}

/** One hit of the doc search (`docs/interface.md`, "Searches"). */
export interface DocHit {
  link: string;
  path: string;
  project: string;
  title: string;
  version: string;
  /** Snippets with the matched words wrapped in an HTML em element. */
  content: readonly string[];
}

export interface DocHits {
  total: number;
  /** Null where nothing was found. */
  maxScore: number | null;
  hits: readonly DocHit[];
}

/**
 * Where the protocol's answers come from. Records leave as they stand on the wire; envelopes, status codes and
 * refusals are the protocol's. A rejected promise becomes a 500.
 */
export interface Catalog {
  /** Records in the order of their list. Hidden ones are neither in it nor counted. */
  list<R extends Resource>(resource: R, query: ListQuery): Promise<Slice<RecordTypes[R]>>;
  /** One record by its id; undefined when there is none or the lists hide it. */
  find<R extends Resource>(resource: R, id: string): Promise<RecordTypes[R] | undefined>;
  /** Files whose content holds `q`, each with its snippet. `q` is never empty. */
  searchFiles(q: string): Promise<readonly FileHit[]>;
  /** Addresses of the anchors whose text holds `q`. `q` is never empty. */
  searchAnchors(q: string): Promise<readonly string[]>;
  /** Undefined when there is no such project; an unknown version has no hits. */
  searchDocs(query: { project: string; version: string; q: string }): Promise<DocHits | undefined>;
  /** The schema reply kept for a resource; without it the protocol makes one from the documented fields. */
  schema?(resource: Resource): Promise<unknown>;
  /**
   * Names the present content of a resource's list: two equal answers promise that every slice between them was the
   * same, so ready replies may be sent again. Undefined promises nothing.
   */
  revision?(resource: Resource): string | undefined;
}
