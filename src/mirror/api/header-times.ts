/** The three forms of an HTTP date (RFC 9110, 5.6.7). Date.parse accepts almost any text with a number. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/** Reads a header such as `Date`, to the second. Null when it is missing or not an HTTP date. */
export function parseHttpDate(header: string | undefined): Date | null {
  const text = header?.trim() ?? "";
  if (!HTTP_DATES.some((form) => form.test(text))) return null;
  const ms = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(ms) ? null : new Date(ms);
}

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
