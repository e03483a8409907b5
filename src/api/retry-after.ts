/** The three forms of an HTTP date (RFC 9110, 5.6.7). Date.parse alone would accept nearly anything, among it bare words with a number. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/,
  /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/,
];

/**
 * The wait that a `Retry-After` header asks for, in milliseconds from `now`: seconds or an HTTP date (RFC 9110, 10.2.3). A date that has
 * passed, and a negative number, are 0. Undefined when the header is absent or cannot be read.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim();
  if (!text) return undefined;
  if (/^[+-]?\d+(\.\d+)?$/.test(text)) return Math.max(0, Number(text) * 1000);
  if (!HTTP_DATES.some((form) => form.test(text))) return undefined;
  const date = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime());
}
