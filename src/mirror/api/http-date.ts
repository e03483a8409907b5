/**
 * The three forms of an HTTP date (RFC 9110, 5.6.7). Date.parse alone would accept almost any text with a
 * number.
 */
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
