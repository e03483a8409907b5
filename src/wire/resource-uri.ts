import { isResource, type Resource } from "./resources.ts";

/** Where a URI reference points. `key` is an id or, where the service uses one in its place, a slug. */
export type Reference =
  | { kind: "record"; resource: Resource; key: string }
  /** Another host, or a path that is not below this API. */
  | { kind: "foreign" }
  /** Nothing that names a record. */
  | { kind: "malformed" };

/**
 * Reads a URI reference: `/api/v1/project/42/`, with or without the closing slash, absolute or below the base
 * URL's path prefix, by id or by slug. The query and the fragment are ignored. Never throws.
 */
export function parseResourceUri(uri: string, baseUrl: URL): Reference {
  const trimmed = uri.trim();
  if (trimmed === "") return { kind: "malformed" };
  let path = trimmed;
  if (!trimmed.startsWith("/") || trimmed.startsWith("//")) {
    if (!URL.canParse(trimmed, baseUrl.href)) return { kind: "malformed" };
    const url = new URL(trimmed, baseUrl);
    if (!/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(trimmed)) return { kind: "malformed" };
    if (url.host !== baseUrl.host || !/^https?:$/.test(url.protocol)) return { kind: "foreign" };
    path = url.pathname;
  }
  const match = /^(.*)\/api\/v1\/([^/?#]+)\/([^/?#]+)\/?(?:[?#].*)?$/.exec(path);
  if (!match) return { kind: /^\/[^\s]*$/.test(path) ? "foreign" : "malformed" };
  const [, prefix = "", resource = "", encodedKey = ""] = match;
  if (prefix !== "" && prefix !== baseUrl.pathname.replace(/\/$/, "")) return { kind: "foreign" };
  if (!isResource(resource)) return { kind: "foreign" };
  let key: string;
  try {
    key = decodeURIComponent(encodedKey);
  } catch {
    return { kind: "malformed" };
  }
  if (key === "schema" || key === "search" || key === "anchor" || key === "set") return { kind: "malformed" };
  return { kind: "record", resource, key };
}
