/**
 * Levels of lists and objects within a value of upstream's. What is nested deeper is put aside as text: neither JSON.stringify nor Postgres
 * can be trusted with it, since the stack of each has an end. No record that was ever served has more than five.
 */
export const MAX_DEPTH = 500;

/** Throws a RangeError for a value so deep within another that it cannot be kept. */
export function assertDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError(`it is nested more than ${MAX_DEPTH} levels deep`);
}

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
 * JSON cannot write, becomes the text "Infinity" or "-Infinity". Objects come back without a prototype, so no key is special. Throws a
 * RangeError for a value that is nested too deep (`MAX_DEPTH`).
 */
export function cleanJson(value: unknown, replacements: Replacements, depth = 0): unknown {
  assertDepth(depth);
  if (typeof value === "string") return cleanText(value, replacements);
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return String(value);
  if (Array.isArray(value)) return value.map((element) => cleanJson(element, replacements, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const cleaned: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value)) {
    cleaned[cleanText(key, replacements)] = cleanJson(
      (value as Record<string, unknown>)[key],
      replacements,
      depth + 1,
    );
  }
  return cleaned;
}
