/** A text that two JSON values share just when they hold the same, whatever the order of their keys and their prototypes. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(withSortedEntries(value));
}

/** Objects become lists of their entries, so that no key is special, and are marked as such. */
function withSortedEntries(value: unknown): unknown {
  if (Array.isArray(value)) return ["list", ...value.map(withSortedEntries)];
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return ["object", ...entries.map(([key, inner]) => [key, withSortedEntries(inner)])];
}
