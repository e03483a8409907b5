/** What a service sends beside the documented fields, by name, as it came. */
export type Extra = Readonly<Record<string, unknown>>;

/** The fields of an object without those that are known. */
export function extraOf(value: Readonly<Record<string, unknown>>, known: readonly string[]): Extra {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !known.includes(name)));
}
