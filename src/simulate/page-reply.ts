import type { WorldPage } from "./world-pages.ts";

/**
 * The reply to a request for a page, as web servers answer for files: 304 where the asker has it already
 * (`If-None-Match`, else `If-Modified-Since`), and no body for HEAD. 404 for no page.
 */
export function pageReply(request: Request, page: WorldPage | undefined): Response {
  if (page === undefined) {
    return new Response("<h1>Not found</h1>", { status: 404, headers: { "content-type": "text/html" } });
  }
  // The header has seconds at best.
  const modifiedMs = Math.floor(page.lastModified.getTime() / 1000) * 1000;
  const headers = { etag: page.etag, "last-modified": new Date(modifiedMs).toUTCString() };
  const tags = request.headers.get("if-none-match");
  const since = Date.parse(request.headers.get("if-modified-since") ?? "");
  const isKnown = tags === null ? modifiedMs <= since : tags.split(",").some((tag) => isSame(tag, page.etag));
  if (isKnown) return new Response(null, { status: 304, headers });
  const body = request.method === "HEAD" ? null : page.html;
  return new Response(body, { headers: { ...headers, "content-type": "text/html; charset=utf-8" } });
}

/** A server that compresses replies marks their tags as weak. */
function isSame(tag: string, etag: string): boolean {
  return tag.trim().replace(/^W\//, "") === etag || tag.trim() === "*";
}
