import { ConfigError } from "../base/errors.ts";
import { isStorableId } from "../resources/record-id.ts";
import type { Resource } from "../resources/resources.ts";

/** Values of query parameters by name. Undefined leaves a parameter out. */
export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

export const ROOT_PATH = "/api/v1/";

/** The path of a list. */
export function listPath(resource: Resource): string {
  return `${ROOT_PATH}${resource}/`;
}

/** The path of a detail. The closing slash saves a redirect. Throws ConfigError for a key that no record can have. */
export function recordPath(resource: Resource, key: string): string {
  return `${listPath(resource)}${keySegment(resource, key)}/`;
}

/** An id or a slug as a step of a path. Throws ConfigError for a key that would lead elsewhere, as `..` or none. */
export function keySegment(resource: Resource, key: string): string {
  if (!isStorableId(key) || key === "." || key === "..") {
    throw new ConfigError(`'${key.slice(0, 100)}' can be neither the id nor the slug of a ${resource}`, {
      hint: "an id or a slug is a text of 1 to 255 characters, and not a step of a path",
    });
  }
  return encodeURIComponent(key);
}

export function schemaPath(resource: Resource): string {
  return `${listPath(resource)}schema/`;
}

/** `page` counts from 1. A service that does not know it answers with its first hits. */
export function fileSearchPath(q: string, page?: number): string {
  return withQuery("/api/v1/file/search/", { q, page });
}

export function anchorSearchPath(q: string): string {
  return withQuery("/api/v1/file/anchor/", { q });
}

export interface DocSearch {
  /** A project's slug. */
  project: string;
  /** A version's slug. @default "latest" */
  version?: string | undefined;
  q: string;
}

export function docSearchPath({ project, version = "latest", q }: DocSearch): string {
  return withQuery("/api/v2/docsearch/", { project, version, q });
}

function withQuery(path: string, parameters: Parameters): string {
  const query = queryText(parameters);
  return query === "" ? path : `${path}?${query}`;
}

/** The parameters as a query, in the order given. */
export function queryText(parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.append(name, String(value).toWellFormed());
  }
  return query.toString();
}
