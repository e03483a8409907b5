/**
 * A request for one page of a list. `offset` and `limit` come from its query; the other parameters stay as
 * they are.
 */
export interface PageRequest {
  path: string;
  limit: number;
  offset: number;
  /** Parameters other than limit and offset, sorted by name: equal requests have equal texts. */
  others: string;
}

export function firstRequest(listPath: string, limit: number): PageRequest {
  return { path: listPath, limit, offset: 0, others: "format=json" };
}

/** Reads a `next` link. Null when it has no limit, or when its offset is not a number. */
export function parsePageRequest(link: string): PageRequest | null {
  if (!URL.canParse(link, "http://base.invalid")) return null;
  const url = new URL(link, "http://base.invalid");
  const limit = wholeNumber(url.searchParams.get("limit"));
  const offset = url.searchParams.has("offset") ? wholeNumber(url.searchParams.get("offset")) : 0;
  if (limit === null || offset === null) return null;
  url.searchParams.delete("limit");
  url.searchParams.delete("offset");
  url.searchParams.set("format", "json");
  url.searchParams.sort();
  const origin = url.host === "base.invalid" ? "" : url.origin;
  return { path: origin + url.pathname, limit, offset, others: url.searchParams.toString() };
}

/** The path and query to ask for. Equal requests have equal texts. */
export function requestText(request: PageRequest): string {
  const offset = request.offset === 0 ? "" : `&offset=${request.offset}`;
  return `${request.path}?${request.others}&limit=${request.limit}${offset}`;
}

function wholeNumber(text: string | null): number | null {
  if (text === null || !/^\d{1,15}$/.test(text)) return null;
  return Number(text);
}
