import type { RootListing } from "../../client/parse-root.ts";
import type { Output } from "../output/output.ts";
import { renderTable } from "../output/table.ts";

/** The root listing as a table, a row for each resource. */
export function renderRoot(
  root: RootListing,
  { colour, columns }: Pick<Output, "colour" | "columns">,
): string {
  return renderTable({
    head: ["resource", "list_endpoint", "schema"],
    rows: Object.entries(root).map(([name, endpoints]) => [
      name,
      endpoints?.list_endpoint,
      endpoints?.schema,
    ]),
    columns,
    colour,
  });
}
