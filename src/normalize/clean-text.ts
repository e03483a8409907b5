/** Counts what had to be replaced, over one page. */
export interface Replacements {
  nul: number;
}

/** A text that Postgres can hold: U+0000 and lone surrogates become U+FFFD. The first are counted. */
export function cleanText(text: string, replacements: Replacements): string {
  if (text.includes("\u0000")) {
    replacements.nul += 1;
    return text.replaceAll("\u0000", "\uFFFD").toWellFormed();
  }
  return text.isWellFormed() ? text : text.toWellFormed();
}

/**
 * The same for every text and key within a JSON value. A number beyond a double's range, which JSON.parse makes infinite and
 * JSON cannot write, becomes the text "Infinity" or "-Infinity". Objects come back without a prototype, so no key is special.
 */
export function cleanJson(value: unknown, replacements: Replacements): unknown {
  if (typeof value === "string") return cleanText(value, replacements);
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return String(value);
  if (Array.isArray(value)) return value.map((element) => cleanJson(element, replacements));
  if (typeof value !== "object" || value === null) return value;
  const cleaned: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value)) {
    cleaned[cleanText(key, replacements)] = cleanJson((value as Record<string, unknown>)[key], replacements);
  }
  return cleaned;
}
