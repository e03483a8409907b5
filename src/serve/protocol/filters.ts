import type { FieldKind, Filtering } from "../../resources/declare.ts";
import { parseLocalTime } from "../../resources/local-time.ts";
import { DECLARATIONS, fieldOf, type Resource, targetOf } from "../../resources/resources.ts";
import { type Filter, Refusal } from "./catalog.ts";

/** The fields that filter: those that the recorded schemas declare, or every documented field. */
export type FilterRule = "declared" | "every field";

/**
 * The filters of the recorded schemas under `filtering`: 1 allows any comparison, 2 also fields of the
 * referenced record.
 */
export function filteringOf(resource: Resource): Record<string, Filtering> {
  const { fields, otherFilters } = DECLARATIONS[resource];
  const declared = Object.entries(fields).flatMap(([name, { filter }]) =>
    filter === undefined ? [] : [[name, filter] as const],
  );
  return { ...Object.fromEntries(declared), ...otherFilters };
}

const COMPARISONS = new Set(
  "exact iexact contains icontains in gt gte lt lte startswith istartswith endswith iendswith range isnull regex iregex".split(
    " ",
  ),
);

/**
 * Turns the parameters of a query into conditions. Unknown parameters are ignored, so the full list comes
 * back. A known field that may not be filtered is refused. The documentation names no comparisons
 * (`docs/interface.md`, "Lists"): here only equality exists. When a parameter is given twice, the last one
 * counts. Throws a `Refusal` for a value that its field cannot have.
 */
export function readFilters(
  resource: Resource,
  query: URLSearchParams,
  rule: FilterRule = "declared",
): Filter[] {
  const filters: Filter[] = [];
  for (const [name, value] of new Map(query)) {
    const path = name.split("__");
    if (fieldOf(resource, path[0] ?? "") === undefined) continue;
    const last = path.at(-1) ?? "";
    const comparison = path.length > 1 && COMPARISONS.has(last) ? last : "exact";
    if (path.length > 1 && COMPARISONS.has(last)) path.pop();

    if (rule === "declared") assertDeclared(resource, path, name, comparison);
    if (comparison !== "exact") refuseComparison(comparison, path[0] ?? "");
    filters.push({ path, value: readValue(followPath(resource, path, name), value, rule) });
  }
  return filters;
}

interface Target {
  kind: FieldKind;
  related: Resource | undefined;
}

/** The field at the end of a path. Each field before it must be a reference. */
function followPath(start: Resource, path: readonly string[], name: string): Target {
  let resource = start;
  for (const [step, field] of path.entries()) {
    const declared = fieldOf(resource, field);
    if (declared === undefined) {
      throw new Refusal(`'${name}' is not an allowed filter on the '${start}' resource.`);
    }
    const related = targetOf(declared);
    if (step === path.length - 1) return { kind: declared.kind, related };
    if (related === undefined) throw new Refusal(`The '${field}' field does not support relations.`);
    resource = related;
  }
  throw new Refusal(`'${name}' is not an allowed filter on the '${start}' resource.`);
}

function readValue({ kind, related }: Target, value: string, rule: FilterRule): string | boolean {
  if (related !== undefined) {
    const id = rule === "declared" ? value : readReference(value, related);
    if (rule === "declared" && !/^\d+$/.test(id)) throw mismatchedType();
    return id;
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
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function mismatchedType(): Refusal {
  return new Refusal("Invalid resource lookup data provided (mismatched type).");
}

/** The rule of the recorded schemas. The only filter across a relation is `project__slug`. */
function assertDeclared(resource: Resource, path: readonly string[], name: string, comparison: string): void {
  const [field = "", inner] = path;
  assertFilterable(resource, field);
  if (comparison !== "exact") refuseComparison(comparison, field);
  if (inner === undefined) return;
  const related = targetOf(fieldOf(resource, field));
  if (!related) throw new Refusal(`The '${field}' field does not support relations.`);
  assertFilterable(related, inner);
  if (path.length > 2 || field !== "project" || inner !== "slug") {
    throw new Refusal(`'${name}' is not an allowed filter on the '${resource}' resource.`);
  }
}

function assertFilterable(resource: Resource, field: string): void {
  if (!Object.hasOwn(filteringOf(resource), field))
    throw new Refusal(`The '${field}' field does not allow filtering.`);
}

function refuseComparison(comparison: string, field: string): never {
  throw new Refusal(`'${comparison}' is not an allowed filter on the '${field}' field.`);
}

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
    throw new Refusal(`${why} ${describeOrder(resource)}`);
  }
}

function describeOrder(resource: Resource): string {
  const { order } = DECLARATIONS[resource];
  if (order === undefined) return "This list is ordered by 'id'.";
  return `This list is ordered by '${order.by}'${order.isDescending ? ", the last first" : ""}.`;
}
