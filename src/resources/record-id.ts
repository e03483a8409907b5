/** Records are named by their ids, and by the paths in references. */
import { isResource, type Resource } from "./resources.ts";

/** A longer id could exceed an index entry of Postgres. Real ids are far shorter. */
const MAX_ID_LENGTH = 255;

/**
 * The id of a record as text, or null when it has no id that can be trusted. Old services send strings, newer
 * ones integers. JSON.parse rounds an integer beyond 2^53, so it might name another record.
 */
export function recordId(record: unknown): string | null {
  if (typeof record !== "object" || record === null || Array.isArray(record)) return null;
  const id = Object.hasOwn(record, "id") ? (record as { id: unknown }).id : undefined;
  if (typeof id === "number") return Number.isSafeInteger(id) ? String(id) : null;
  return typeof id === "string" && isStorableId(id) ? id : null;
}

/** Postgres can hold the text as the id of a record: not empty, not too long, no U+0000 and no lone surrogate. */
export function isStorableId(id: string): boolean {
  return id !== "" && id.length <= MAX_ID_LENGTH && !id.includes("\u0000") && id.isWellFormed();
}

/** The target of a URI reference. `key` is an id, or a slug where the service uses slugs. */
export type Reference =
  | { kind: "record"; resource: Resource; key: string }
  /** On another host, or on a path outside this API. */
  | { kind: "foreign" }
  /** Does not name a record. */
  | { kind: "malformed" };

/** No keys: path segments of other endpoints (`docs/interface.md`, "Endpoints"), and the relative steps. */
const NO_KEYS: readonly string[] = ["schema", "search", "anchor", "set", ".", ".."];

/** The part of a URI in front of `/api/v1/`: a scheme, a host, a prefix, or nothing. */
export function frontOf(uri: string): string {
  const path = uri.replace(/[?#].*$/s, "");
  return path.slice(0, Math.max(0, path.lastIndexOf("/api/v1/"))).trimStart();
}

/**
 * The place at which the service sees itself, by the `resource_uri` of a record: the part in front of `/api/v1/` there, and so in its
 * references too. A proxy may have given the service another scheme, host or prefix. "" when it names no `resource`.
 */
export function ownFront(record: Readonly<Record<string, unknown>>, resource: Resource): string {
  const uri = Object.hasOwn(record, "resource_uri") ? record.resource_uri : "";
  if (typeof uri !== "string" || uri.startsWith("/api/v1/")) return "";
  const front = frontOf(uri);
  return uri.trimStart().startsWith(`${front}/api/v1/${resource}/`) ? front : "";
}

/**
 * Reads a URI reference: `/api/v1/project/42/`, with or without the closing slash, absolute or below the base
 * URL's path prefix or another `front`, by id or by slug. The query and the fragment are ignored. Never throws.
 */
export function parseResourceUri(uri: string, baseUrl: URL, front = ""): Reference {
  const named = splitUri(
    front !== "" && frontOf(uri) === front ? uri.trim().slice(front.length) : uri,
    baseUrl,
  );
  if (typeof named === "string") return { kind: named };
  const { resource, key } = named;
  return isResource(resource) ? { kind: "record", resource, key } : { kind: "foreign" };
}

/**
 * The other resource of this API that a record names in its own `resource_uri`. Null when that names `resource`, is
 * missing, leads elsewhere or cannot be read. Its key does not matter: `id` says which record it is, and services may
 * name a project by its slug there.
 */
export function otherResource(record: unknown, resource: Resource, baseUrl: URL): string | null {
  if (typeof record !== "object" || record === null || !Object.hasOwn(record, "resource_uri")) return null;
  const { resource_uri: uri } = record as { resource_uri: unknown };
  // Nearly all do, and a page has a thousand of them.
  if (typeof uri !== "string" || uri.startsWith(`/api/v1/${resource}/`)) return null;
  const named = splitUri(uri, baseUrl);
  return typeof named === "string" || named.resource === resource ? null : named.resource;
}

/** The resource and the key that a URI names, or why it names none. The resource may be one that is not mirrored. */
function splitUri(
  uri: string,
  baseUrl: URL,
): { resource: string; key: string } | Exclude<Reference["kind"], "record"> {
  const trimmed = uri.trim();
  let path = trimmed;
  if (!trimmed.startsWith("/") || trimmed.startsWith("//")) {
    const isAbsolute = /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(trimmed);
    if (!isAbsolute || !URL.canParse(trimmed, baseUrl.href)) return "malformed";
    const url = new URL(trimmed, baseUrl);
    if (url.host !== baseUrl.host || !/^https?:$/.test(url.protocol)) return "foreign";
    path = url.pathname;
  }
  // This comes first, so that a path inside the query is not read as the reference.
  path = path.replace(/[?#].*$/s, "");
  const match = /^(.*)\/api\/v1\/([^/]+)\/([^/]+)\/?$/.exec(path);
  if (!match) return /^\/[^\s]*$/.test(path) ? "foreign" : "malformed";
  const [, prefix = "", resource = "", encodedKey = ""] = match;
  if (prefix !== "" && unescaped(prefix) !== unescaped(baseUrl.pathname.replace(/\/$/, ""))) return "foreign";
  const key = decodeKey(encodedKey);
  if (key === null || NO_KEYS.includes(key)) return isResource(resource) ? "malformed" : "foreign";
  return { resource, key };
}

/** A prefix in one spelling: `~` may come as `%7E`. */
function unescaped(prefix: string): string {
  return prefix.replace(/%([0-7][\da-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** The key in a path segment. Null when no record can have that key. */
function decodeKey(segment: string): string | null {
  try {
    const key = decodeURIComponent(segment);
    return isStorableId(key) ? key : null;
  } catch {
    return null;
  }
}
