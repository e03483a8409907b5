/** Longer ids would not fit an index entry of Postgres; none that was ever served comes near it. */
const MAX_ID_LENGTH = 255;

/**
 * The id of a record as text, or null where it has none that can be trusted. Ids were strings in one era and integers in
 * the next; an integer beyond 2^53 was rounded by JSON.parse and might name another record.
 */
export function recordId(record: unknown): string | null {
  if (typeof record !== "object" || record === null || Array.isArray(record)) return null;
  const id = Object.hasOwn(record, "id") ? (record as { id: unknown }).id : undefined;
  if (typeof id === "number") return Number.isSafeInteger(id) ? String(id) : null;
  return typeof id === "string" && isStorableId(id) ? id : null;
}

/** Whether Postgres can hold a text as the id of a record: not empty, not endless, no U+0000 and no lone surrogate. */
export function isStorableId(id: string): boolean {
  return id !== "" && id.length <= MAX_ID_LENGTH && !id.includes("\u0000") && id.isWellFormed();
}
