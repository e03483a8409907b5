/** What the service says of itself, as tables. */
import { printable } from "../../base/text.ts";
import type { ResourceSchema, RootListing } from "../../client/parse-replies.ts";
import { cutText } from "../output/cut-text.ts";
import type { Output } from "../output/output.ts";
import { renderTable } from "../output/table.ts";
import { showValue } from "./show-value.ts";

const PROPERTIES = ["type", "nullable", "unique", "help_text"] as const;
const MAX_FILTERS_LENGTH = 500;

/** A schema as a table, a row for each field, and the filters below where it names them. */
export function renderSchema(
  { fields = {}, extra: { filtering } }: ResourceSchema,
  { colour, columns }: Output,
): string {
  const table = renderTable({
    head: ["field", ...PROPERTIES],
    rows: Object.entries(fields).map(([name, field]) => {
      return [name, ...PROPERTIES.map((property) => showValue(field?.[property]))];
    }),
    columns,
    mayDrop: true,
    colour,
  });
  if (typeof filtering !== "object" || filtering === null) return table;
  const filters = cutText(printable(Object.keys(filtering).join(", ")), MAX_FILTERS_LENGTH);
  return `${table}\nfilters: ${filters}\n`;
}

/** The root listing as a table, a row for each resource. */
export function renderRoot({ extra, ...documented }: RootListing, { colour, columns }: Output): string {
  return renderTable({
    head: ["resource", "list_endpoint", "schema"],
    rows: Object.entries({ ...documented, ...extra }).map(([name, paths]) => [
      name,
      paths?.list_endpoint,
      paths?.schema,
    ]),
    columns,
    colour,
  });
}
