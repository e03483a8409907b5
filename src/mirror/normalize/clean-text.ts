import { ExactNumber } from "../../resources/parse-json.ts";

/** Deeper values could exhaust the stack of JSON.stringify or Postgres. Real records have five levels at most. */
const MAX_DEPTH = 500;

export function assertDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError(`it is nested more than ${MAX_DEPTH} levels deep`);
}

/** The number of texts in which a U+0000 was replaced. */
export type Replacements = { nul: number };

/** A text that Postgres can hold: U+0000 and lone surrogates become U+FFFD. */
export function cleanText(text: string, replacements: Replacements): string {
  if (text.includes("\u0000")) {
    replacements.nul += 1;
    return text.replaceAll("\u0000", "\uFFFD").toWellFormed();
  }
  return text.isWellFormed() ? text : text.toWellFormed();
}

/**
 * Cleans every text and key within a JSON value. A number that JSON.parse made infinite becomes "Infinity" or "-Infinity".
 * The objects returned have no prototype, so no key is special. Throws a RangeError for what is nested too deep.
 */
export function cleanJson(value: unknown, replacements: Replacements, depth = 0): unknown {
  assertDepth(depth);
  if (typeof value === "string") return cleanText(value, replacements);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (value instanceof ExactNumber) return value;
  if (Array.isArray(value)) return value.map((element) => cleanJson(element, replacements, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const cleaned: Record<string, unknown> = Object.create(null);
  const given = value as Record<string, unknown>;
  for (const key of Object.keys(given))
    cleaned[cleanText(key, replacements)] = cleanJson(given[key], replacements, depth + 1);
  return cleaned;
}
