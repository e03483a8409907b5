import { DECLARATIONS, fieldOf, type Resource } from "../../resources/resources.ts";
import { Refusal } from "./refusal.ts";

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
