import type { FieldKind, Filtering } from "../../resources/declare.ts";
import { parseLocalTime } from "../../resources/local-time.ts";
import { DECLARATIONS, fieldOf, type Resource, targetOf } from "../../resources/resources.ts";
import type { Filter } from "./catalog.ts";
import type { Manners } from "./manners.ts";
import { Refusal } from "./refusal.ts";

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
  rule: Manners["filters"] = "declared",
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

function readValue({ kind, related }: Target, value: string, rule: Manners["filters"]): string | boolean {
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
