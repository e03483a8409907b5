/**
 * The absolute URL of an API path below the base URL, asking for JSON. A path that already starts with the base URL's
 * prefix keeps it, any other gets it (a proxy may or may not strip it from what the service prints). Null for
 * anything on another origin or outside `/api/`: nothing that upstream sends may lead a request there.
 */
export function apiUrl(path: string, baseUrl: URL): URL | null {
  const prefix = baseUrl.pathname.replace(/\/$/, "");
  if (!URL.canParse(path, baseUrl.origin)) return null;
  const url = new URL(path, baseUrl.origin);
  if (url.origin !== baseUrl.origin || url.username !== "" || url.password !== "") return null;
  // With `/api/`, since the prefix itself may be `/api`.
  if (!url.pathname.startsWith(`${prefix}/api/`)) url.pathname = prefix + url.pathname;
  if (!url.pathname.startsWith(`${prefix}/api/`)) return null;
  url.searchParams.set("format", "json");
  url.hash = "";
  return url;
}

/** Whether two paths lead to the same endpoint of the API, whatever their parameters. */
export function isSameEndpoint(one: string, other: string, baseUrl: URL): boolean {
  const path = apiUrl(one, baseUrl)?.pathname;
  return path !== undefined && path === apiUrl(other, baseUrl)?.pathname;
}
