import { parseLocalTime } from "../../resources/local-time.ts";
import { fieldOf, type Resource, targetOf } from "../../resources/resources.ts";
import type { Filter } from "./catalog.ts";

type WireRecord = Readonly<Record<string, unknown>>;

/**
 * Whether a record in its wire form passes a filter, for catalogs that hold their records in memory. `find`
 * gives the record that a reference names. A null never matches.
 */
export function matchesFilter(
  resource: Resource,
  record: object,
  { path, value }: Filter,
  find: (related: Resource, id: string) => object | undefined,
): boolean {
  const [field = "", ...rest] = path;
  const declared = fieldOf(resource, field);
  const held = (record as WireRecord)[field];
  const related = targetOf(declared);
  if (related === undefined) {
    if (declared?.kind !== "datetime" || typeof held !== "string") return held === value;
    return parseLocalTime(held)?.text === value;
  }
  const ids = (Array.isArray(held) ? held : [held]).map(idOf);
  if (rest.length === 0) return ids.some((id) => id === value);
  return ids.some((id) => {
    const target = id === undefined ? undefined : find(related, id);
    return target !== undefined && matchesFilter(related, target, { path: rest, value }, find);
  });
}

/** The id in a reference: the last part of a URI, or the id of an embedded record. */
function idOf(reference: unknown): string | undefined {
  if (typeof reference === "string") return /([^/]+)\/?$/.exec(reference)?.[1];
  if (typeof reference !== "object" || reference === null) return undefined;
  const { id } = reference as { id?: unknown };
  return id === undefined || id === null ? undefined : String(id);
}
