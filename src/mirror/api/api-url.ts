import type { RequestLabel } from "../../base/metrics/labels.ts";
import { RESOURCES } from "../../resources/resources.ts";

export const ROOT_PATH = "/api/v1/";

/**
 * The absolute URL of an API path, with `format=json`. The prefix of the base URL is added when the path lacks it: a proxy
 * may strip it. Null for another origin or a path outside `/api/`, so that upstream can never lead a request there.
 */
export function apiUrl(path: string, baseUrl: URL): URL | null {
  const prefix = baseUrl.pathname.replace(/\/$/, "");
  if (!URL.canParse(path, baseUrl.origin)) return null;
  const url = new URL(path, baseUrl.origin);
  if (url.origin !== baseUrl.origin || url.username !== "" || url.password !== "") return null;
  // The test includes `/api/`, because the prefix itself may be `/api`.
  if (!url.pathname.startsWith(`${prefix}/api/`)) url.pathname = prefix + url.pathname;
  if (!url.pathname.startsWith(`${prefix}/api/`)) return null;
  url.searchParams.set("format", "json");
  url.hash = "";
  return url;
}

/**
 * Two links name the same endpoint. A server behind a proxy writes them as it sees itself: with another scheme, host
 * or prefix. So only what follows the prefix counts. Nothing is asked for by a link that was compared.
 */
export function isSameEndpoint(one: string, other: string, baseUrl: URL): boolean {
  const path = pathInApi(one, baseUrl);
  return path !== null && path === pathInApi(other, baseUrl);
}

/** The path of a link from `/api/v1/` on, without its parameters and the closing slash. Null where it has none. */
function pathInApi(link: string, baseUrl: URL): string | null {
  if (!URL.canParse(link, baseUrl.origin)) return null;
  const { pathname } = new URL(link, baseUrl.origin);
  const start = pathname.lastIndexOf(ROOT_PATH);
  return start < 0 ? null : pathname.slice(start).replace(/\/$/, "");
}

/** The thing that a request below the base URL asks for, by its path. A path that is not of the interface is `other`. */
export function requestLabel(url: URL, baseUrl: URL): RequestLabel {
  const prefix = baseUrl.pathname.replace(/\/$/, "");
  if (!url.pathname.startsWith(prefix + ROOT_PATH)) return "other";
  const [name = "", part] = url.pathname.slice((prefix + ROOT_PATH).length).split("/");
  if (name === "") return "root";
  const resource = RESOURCES.find((one) => one === name);
  return resource === undefined ? "other" : part === "schema" ? "schema" : resource;
}
