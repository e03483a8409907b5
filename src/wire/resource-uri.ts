import { isStorableId } from "./record-id.ts";
import { isResource, type Resource } from "./resources.ts";

/** Where a URI reference points. `key` is an id or, where the service uses one in its place, a slug. */
export type Reference =
  | { kind: "record"; resource: Resource; key: string }
  /** Another host, or a path that is not below this API. */
  | { kind: "foreign" }
  /** Nothing that names a record. */
  | { kind: "malformed" };

/** What stands in the place of a key on other endpoints (`docs/interface.md`, "Endpoints"), and steps within the path. */
const NO_KEYS: readonly string[] = ["schema", "search", "anchor", "set", ".", ".."];

/**
 * Reads a URI reference: `/api/v1/project/42/`, with or without the closing slash, absolute or below the base
 * URL's path prefix, by id or by slug. The query and the fragment are ignored. Never throws.
 */
export function parseResourceUri(uri: string, baseUrl: URL): Reference {
  const trimmed = uri.trim();
  let path = trimmed;
  if (!trimmed.startsWith("/") || trimmed.startsWith("//")) {
    const isAbsolute = /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(trimmed);
    if (!isAbsolute || !URL.canParse(trimmed, baseUrl.href)) return { kind: "malformed" };
    const url = new URL(trimmed, baseUrl);
    if (url.host !== baseUrl.host || !/^https?:$/.test(url.protocol)) return { kind: "foreign" };
    path = url.pathname;
  }
  // Cut off first: a path within the query must not be taken for the reference.
  path = path.replace(/[?#].*$/s, "");
  const match = /^(.*)\/api\/v1\/([^/]+)\/([^/]+)\/?$/.exec(path);
  if (!match) return { kind: /^\/[^\s]*$/.test(path) ? "foreign" : "malformed" };
  const [, prefix = "", resource = "", encodedKey = ""] = match;
  if (prefix !== "" && prefix !== baseUrl.pathname.replace(/\/$/, "")) return { kind: "foreign" };
  if (!isResource(resource)) return { kind: "foreign" };
  const key = decodeKey(encodedKey);
  if (key === null || NO_KEYS.includes(key)) return { kind: "malformed" };
  return { kind: "record", resource, key };
}

/** The key that a path segment spells, or null where no record could have it: then it need not be looked for, or stored. */
function decodeKey(segment: string): string | null {
  try {
    const key = decodeURIComponent(segment);
    return isStorableId(key) ? key : null;
  } catch {
    return null;
  }
}
