/**
 * Writes an array as Postgres reads it, whatever the type of its elements. Any other value is treated as text
 * that is already written.
 */
export function serializeArray(elements: unknown): string {
  if (!Array.isArray(elements)) return String(elements);
  const quoted = elements.map((element) =>
    element === null ? "null" : `"${String(element).replace(/[\\"]/g, "\\$&")}"`,
  );
  return `{${quoted.join(",")}}`;
}

/** Reads the text of a one-dimensional array of Postgres. `parse` reads an element. */
export function parseArray<T>(text: string, parse: (element: string) => T): (T | null)[] {
  const elements = text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs);
  return Array.from(elements, ([, quoted, plain = ""]) => {
    if (quoted !== undefined) return parse(quoted.replace(/\\(.)/gs, "$1"));
    return plain === "NULL" ? null : parse(plain);
  });
}
