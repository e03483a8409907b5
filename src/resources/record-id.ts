/** A longer id could exceed an index entry of Postgres. Real ids are far shorter. */
const MAX_ID_LENGTH = 255;

/**
 * The id of a record as text, or null when it has no id that can be trusted. Old services send strings, newer
 * ones integers. JSON.parse rounds an integer beyond 2^53, so it might name another record.
 */
export function recordId(record: unknown): string | null {
  if (typeof record !== "object" || record === null || Array.isArray(record)) return null;
  const id = Object.hasOwn(record, "id") ? (record as { id: unknown }).id : undefined;
  if (typeof id === "number") return Number.isSafeInteger(id) ? String(id) : null;
  return typeof id === "string" && isStorableId(id) ? id : null;
}

/**
 * Whether Postgres can hold a text as the id of a record: not empty, not too long, no U+0000 and no lone
 * surrogate.
 */
export function isStorableId(id: string): boolean {
  return id !== "" && id.length <= MAX_ID_LENGTH && !id.includes("\u0000") && id.isWellFormed();
}
