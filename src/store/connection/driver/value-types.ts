/**
 * Writes an array as Postgres reads it, whatever the type of its elements. Any other value is treated as text
 * that is already written.
 */
function serializeArray(elements: unknown): string {
  if (!Array.isArray(elements)) return String(elements);
  const quoted = elements.map((element) =>
    element === null ? "null" : `"${String(element).replace(/[\\"]/g, "\\$&")}"`,
  );
  return `{${quoted.join(",")}}`;
}

/** Reads the text of a one-dimensional array of Postgres. `parse` reads an element. */
function parseArray<T>(text: string, parse: (element: string) => T): (T | null)[] {
  const elements = text.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs);
  return Array.from(elements, ([, quoted, plain = ""]) => {
    if (quoted !== undefined) return parse(quoted.replace(/\\(.)/gs, "$1"));
    return plain === "NULL" ? null : parse(plain);
  });
}

/** text, varchar, and all times, which are read as text. */
const TEXT_ARRAYS = [1009, 1015, 1115, 1182, 1183, 1185];
/** int2, int4, int8 */
const NUMBER_ARRAYS = [1005, 1007, 1016];

const asText = (value: unknown): string => (value instanceof Date ? value.toISOString() : String(value));
const asIs = (text: string): string => text;
const parseInt8 = (text: string): number | string => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
};

/** Writes and reads values by the numbers of their types. The driver would cut times to milliseconds. */
export const VALUE_TYPES = {
  date: { to: 1114, from: [1082, 1083, 1114, 1184, 1186, 1266], serialize: asText, parse: asIs },
  int8: { to: 20, from: [20], serialize: asText, parse: parseInt8 },
  texts: {
    to: 1009,
    from: TEXT_ARRAYS,
    serialize: serializeArray,
    parse: (text: string) => parseArray(text, asIs),
  },
  numbers: {
    to: 1016,
    from: NUMBER_ARRAYS,
    serialize: serializeArray,
    parse: (text: string) => parseArray(text, parseInt8),
  },
};
