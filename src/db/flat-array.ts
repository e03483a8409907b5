/** Writes an array as Postgres reads it, of whatever type its elements are. What is no array is taken for written already. */
export function serializeArray(elements: unknown): string {
  if (!Array.isArray(elements)) return String(elements);
  const quoted = elements.map((element) =>
    element === null ? "null" : `"${String(element).replace(/[\\"]/g, "\\$&")}"`,
  );
  return `{${quoted.join(",")}}`;
}

/** Reads Postgres' text of an array of one dimension; `parse` reads an element. */
export function parseArray<T>(text: string, parse: (element: string) => T): (T | null)[] {
  const elements = text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs);
  return Array.from(elements, ([, quoted, plain = ""]) => {
    if (quoted !== undefined) return parse(quoted.replace(/\\(.)/gs, "$1"));
    return plain === "NULL" ? null : parse(plain);
  });
}
