import type { PageParts } from "../../client/list-pages.ts";
import { parsePageRequest } from "../../resources/page-request.ts";
import { isJsonObject } from "../../resources/parse-json.ts";
import { DECLARATIONS, type Resource } from "../../resources/resources.ts";
import type { Output } from "../output/output.ts";
import { renderTable } from "../output/table.ts";
import { showValue } from "./show-value.ts";

/** A cell of a build's texts shows their beginning. */
const MAX_CELL_LENGTH = 60;

/** A page of a list as a table, a row for each record, with the place of the page below. */
export function renderList(
  resource: Resource,
  page: PageParts<unknown>,
  { colour, columns }: Pick<Output, "colour" | "columns">,
): string {
  const { meta, objects } = page;
  const offset = meta.offset ?? 0;
  const total = meta.total_count;
  const ofAll = total === null ? "" : ` of ${total}`;
  if (objects.length === 0) {
    return offset > 0
      ? `No ${resource}s from offset ${offset} on${total === null ? "" : `; there are ${total}`}\n`
      : `No ${resource}s\n`;
  }
  const head = DECLARATIONS[resource].summary;
  const table = renderTable({
    head,
    rows: objects.map((record) => head.map((field) => showValue(fieldOf(record, field)).slice(0, 1000))),
    right: objects.every((record) => /^\d{1,20}$/.test(String(fieldOf(record, "id")))) ? ["id"] : [],
    maxCellLength: MAX_CELL_LENGTH,
    columns,
    mayDrop: true,
    colour,
  });
  const place =
    offset === 0
      ? `${objects.length}${ofAll} ${resource}s`
      : objects.length === 1
        ? `${resource} ${offset + 1}${ofAll}`
        : `${resource}s ${offset + 1} to ${offset + objects.length}${ofAll}`;
  return `${table}\n${place}${moreOf(meta.next)}\n`;
}

function moreOf(next: string | null): string {
  if (next === null) return "";
  const request = parsePageRequest(next);
  return request === null ? "; there are more" : `; the next page: --offset ${request.offset}`;
}

function fieldOf(record: unknown, field: string): unknown {
  return isJsonObject(record) && Object.hasOwn(record, field) ? record[field] : undefined;
}
