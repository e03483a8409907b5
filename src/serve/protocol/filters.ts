import type { Field, Filtering } from "../../resources/declare.ts";
import { parseLocalTime } from "../../resources/local-time.ts";
import { DECLARATIONS, fieldOf, type Resource, targetOf } from "../../resources/resources.ts";
import { type Filter, Refusal } from "./catalog.ts";

/** The fields that filter: those that the recorded schemas declare, or every documented field. */
export type FilterRule = "declared" | "every field";

/** The filters of the recorded schemas under `filtering`: 1 allows any comparison, 2 also fields of the referenced record. */
export function filteringOf(resource: Resource): Record<string, Filtering> {
  const { fields, otherFilters } = DECLARATIONS[resource];
  const declared = Object.entries(fields).flatMap(([name, { filter }]) => (filter ? [[name, filter]] : []));
  return { ...Object.fromEntries(declared), ...otherFilters };
}

const COMPARISONS = /^(?:i?exact|i?contains|in|[gl]te?|i?startswith|i?endswith|range|isnull|i?regex)$/;

/**
 * Turns the parameters of a query into conditions. Unknown parameters are ignored, so the full list comes
 * back. A known field that may not be filtered is refused. The documentation names no comparisons
 * (`docs/interface.md`, "Lists"): here only equality exists. When a parameter is given twice, the last one
 * counts. Throws a `Refusal` for a value that its field cannot have.
 */
export function readFilters(resource: Resource, query: URLSearchParams, rule: FilterRule = "declared") {
  const filters: Filter[] = [];
  for (const [name, value] of new Map(query)) {
    const path = name.split("__");
    if (fieldOf(resource, path[0] ?? "") === undefined) continue;
    const comparison = (path.length > 1 && COMPARISONS.test(path.at(-1) ?? "") && path.pop()) || "exact";
    const [field = ""] = path;
    if (rule === "declared") assertFilterable(resource, field);
    if (comparison !== "exact")
      throw new Refusal(`'${comparison}' is not an allowed filter on the '${field}' field.`);
    if (rule === "declared") assertDeclared(resource, path, name);
    filters.push({ path, value: readValue(followPath(resource, path, name), value, rule) });
  }
  return filters;
}

/** The field at the end of a path. Each field before it must be a reference. */
function followPath(start: Resource, path: readonly string[], name: string): Field {
  let resource = start;
  for (const [step, field] of path.entries()) {
    const declared = fieldOf(resource, field);
    if (declared === undefined) break;
    if (step === path.length - 1) return declared;
    const related = targetOf(declared);
    if (related === undefined) throw new Refusal(`The '${field}' field does not support relations.`);
    resource = related;
  }
  throw notAllowed(start, name);
}

function readValue(field: Field, value: string, rule: FilterRule): string | boolean {
  const { kind } = field;
  const related = targetOf(field);
  if (related !== undefined) {
    if (rule === "every field") return readReference(value, related);
    if (!/^\d+$/.test(value)) throw mismatchedType();
    return value;
  }
  if (kind === "boolean") {
    if (/^(true|t|1)$/i.test(value)) return true;
    if (/^(false|f|0)$/i.test(value)) return false;
    throw new Refusal(`'${value}' value must be either True or False.`);
  }
  if (kind !== "datetime") return value;
  const time = parseLocalTime(/^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00:00` : value);
  if (time === null) throw mismatchedType();
  return time.text;
}

/** The id in a reference that is given as an id or as the URI of the record. */
function readReference(value: string, related: Resource): string {
  const [, resource, key] = /\/api\/v1\/([^/?#]+)\/([^/?#]+)\/?$/.exec(value) ?? [];
  if (resource === undefined || key === undefined) return value;
  if (resource !== related) throw mismatchedType();
  return decode(key);
}

/** A part of a path without its escapes, or as it is where they are none. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const mismatchedType = () => new Refusal("Invalid resource lookup data provided (mismatched type).");
const notAllowed = (resource: Resource, name: string) =>
  new Refusal(`'${name}' is not an allowed filter on the '${resource}' resource.`);

/** The rule of the recorded schemas: the only filter across a relation is `project__slug`. */
function assertDeclared(resource: Resource, path: readonly string[], name: string): void {
  const [field = "", inner] = path;
  if (inner === undefined) return;
  const related = targetOf(fieldOf(resource, field));
  if (!related) throw new Refusal(`The '${field}' field does not support relations.`);
  assertFilterable(related, inner);
  if (path.length > 2 || field !== "project" || inner !== "slug") throw notAllowed(resource, name);
}

function assertFilterable(resource: Resource, field: string): void {
  if (!Object.hasOwn(filteringOf(resource), field))
    throw new Refusal(`The '${field}' field does not allow filtering.`);
}

/**
 * Says whether a record in its wire form passes a filter, for catalogs that hold their records in memory. `find`
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
  const held = (record as Readonly<Record<string, unknown>>)[field];
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

/**
 * Refuses `order_by`, and `sort_by`, its older name, as the service does: no field of any list allows it (`docs/interface.md`,
 * "What we chose"). In silence a client would take the list for sorted as it asked.
 */
export function refuseOrdering(resource: Resource, query: URLSearchParams): void {
  for (const value of query.getAll(query.has("order_by") ? "order_by" : "sort_by")) {
    const field = (value.split("__")[0] ?? "").replace(/^-/, "");
    const why =
      fieldOf(resource, field) === undefined
        ? `No matching '${field}' field for ordering on.`
        : `The '${field}' field does not allow ordering.`;
    const { by, isDescending = false } = DECLARATIONS[resource].order ?? { by: "id" };
    throw new Refusal(`${why} This list is ordered by '${by}'${isDescending ? ", the last first" : ""}.`);
  }
}
