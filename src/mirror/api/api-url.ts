import type { RequestLabel } from "../../base/metrics/labels.ts";
import { RESOURCES } from "../../resources/resources.ts";

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

/** Whether two paths lead to the same endpoint, with any parameters. */
export function isSameEndpoint(one: string, other: string, baseUrl: URL): boolean {
  const path = apiUrl(one, baseUrl)?.pathname;
  return path !== undefined && path === apiUrl(other, baseUrl)?.pathname;
}

/** What a request below the base URL asks for, by its path. A path that is not of the interface is `other`. */
export function requestLabel(url: URL, baseUrl: URL): RequestLabel {
  const prefix = baseUrl.pathname.replace(/\/$/, "");
  if (!url.pathname.startsWith(`${prefix}/api/v1/`)) return "other";
  const [name = "", part] = url.pathname.slice(`${prefix}/api/v1/`.length).split("/");
  if (name === "") return "root";
  const resource = RESOURCES.find((one) => one === name);
  return resource === undefined ? "other" : part === "schema" ? "schema" : resource;
}
