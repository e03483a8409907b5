import { charsetIn, charsetNamed, decodeCharset } from "../api/charset.ts";

/** How much of a page is searched for its encoding, in bytes. Browsers look as far. */
const SEARCHED_BYTES = 1024;

/**
 * The text of a page, by its byte order mark, else the `charset` of its `Content-Type`, else that of its own
 * `meta` element, else UTF-8. Bytes that are not valid become U+FFFD. Never throws.
 */
export function decodePage(body: Buffer, contentType: string): string {
  const start = body.subarray(0, SEARCHED_BYTES).toString("latin1");
  const named =
    markOf(body) ??
    charsetIn(contentType) ??
    charsetIn(/<meta[^>]*charset[^>]*>/i.exec(start)?.[0] ?? "") ??
    /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)/i.exec(start)?.[1];
  return decodeCharset(body, charsetNamed(named ?? "utf-8") ?? "utf-8");
}

function markOf(body: Buffer): string | undefined {
  if (body[0] === 0xfe && body[1] === 0xff) return "utf-16be";
  if (body[0] === 0xff && body[1] === 0xfe) return "utf-16le";
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? "utf-8" : undefined;
}
