import { parseHttpDate } from "./http-date.ts";

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from `now`: seconds or an HTTP date (RFC
 * 9110, 10.2.3). A past date or a negative number gives 0. Undefined when the header is missing or cannot be
 * read.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) return Math.max(0, Number(text) * 1000);
  const date = parseHttpDate(text);
  return date ? Math.max(0, date.getTime() - now.getTime()) : undefined;
}
