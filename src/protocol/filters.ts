import { RELATED, RESOURCE_FIELDS, type Resource } from "../wire/resources.ts";
import type { Filter } from "./catalog.ts";
import { Refusal } from "./refusal.ts";

/**
 * The filters of the recorded schemas under `filtering`: 1 allows any comparison, 2 also fields of the
 * referenced record. `slug` is listed under `build` although builds have none, so a filter by it is an
 * unknown parameter.
 */
export const FILTERING: Partial<Record<Resource, Readonly<Record<string, 1 | 2 | "exact">>>> = {
  build: { project: 2, slug: 2, state: 2, type: 2 },
  project: { slug: 2, users: 2 },
  user: { username: "exact" },
  version: { active: 1, project: 2, slug: 2 },
};

const COMPARISONS = new Set(
  "exact iexact contains icontains in gt gte lt lte startswith istartswith endswith iendswith range isnull regex iregex".split(
    " ",
  ),
);

/**
 * Turns the parameters of a query into conditions. Unknown parameters are ignored, so the full list comes
 * back. A known field that may not be filtered is refused. The documentation names no comparisons
 * (`docs/interface.md`, "Lists"): here only equality exists, and `project__slug` is the only field of another
 * record.
 */
export function readFilters(resource: Resource, query: URLSearchParams): Filter[] {
  const filters: Filter[] = [];
  for (const [name, value] of new Map(query)) {
    const path = name.split("__");
    const field = path[0] ?? "";
    if (!(field in RESOURCE_FIELDS[resource]) && field !== "id") continue;
    const last = path.at(-1) ?? "";
    const comparison = path.length > 1 && COMPARISONS.has(last) ? last : "exact";
    if (path.length > 1 && COMPARISONS.has(last)) path.pop();

    assertFilterable(resource, field);
    if (comparison !== "exact")
      throw new Refusal(`'${comparison}' is not an allowed filter on the '${field}' field.`);
    const inner = path[1];
    if (inner === undefined) {
      filters.push(toFilter(field, value));
      continue;
    }
    const related = RELATED[field];
    if (!related) throw new Refusal(`The '${field}' field does not support relations.`);
    assertFilterable(related, inner);
    if (path.length > 2 || field !== "project" || inner !== "slug") {
      throw new Refusal(`'${name}' is not an allowed filter on the '${resource}' resource.`);
    }
    filters.push({ field: "project__slug", value });
  }
  return filters;
}

function assertFilterable(resource: Resource, field: string): void {
  if (!FILTERING[resource]?.[field]) throw new Refusal(`The '${field}' field does not allow filtering.`);
}

function toFilter(field: string, value: string): Filter {
  switch (field) {
    case "active":
      if (/^(true|t|1)$/i.test(value)) return { field, value: true };
      if (/^(false|f|0)$/i.test(value)) return { field, value: false };
      throw new Refusal(`'${value}' value must be either True or False.`);
    case "project":
    case "users":
      if (!/^\d+$/.test(value)) throw new Refusal("Invalid resource lookup data provided (mismatched type).");
      return { field, value };
    case "slug":
    case "state":
    case "type":
    case "username":
      return { field, value };
    default:
      throw new Refusal(`The '${field}' field does not allow filtering.`);
  }
}
