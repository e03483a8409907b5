import type { SQL } from "drizzle-orm";
import { columnOf, type RecordTable, recordsAs } from "../../mirror/load/tables.ts";
import { DECLARATIONS, RESOURCES, type Resource } from "../../resources/resources.ts";
import { compose } from "../../store/connection/run-statement.ts";
import { listKey } from "../../store/schema/record-columns.ts";

/** The order of a served list (`docs/internals/service.md`, "Order"): one key of upstream, then the id. */
export interface ListOrder {
  /** An SQL expression over the row `r`, never null, with an index of its own. Null: the id alone. */
  key: SQL | null;
  /** The type of the key, to read it back from its text. */
  type: "text" | "timestamp";
  isDescending: boolean;
}

export const LIST_ORDERS = Object.fromEntries(
  RESOURCES.map((resource) => [resource, orderOf(resource)]),
) as Readonly<Record<Resource, ListOrder>>;

/** A list without an order upstream has that of its ids here. */
function orderOf(resource: Resource): ListOrder {
  const { order, fields } = DECLARATIONS[resource];
  if (!order) return { key: null, type: "text", isDescending: false };
  const field = fields[order.by];
  return {
    key: listKey(columnOf(recordsAs(resource, "r"), order.by), field),
    type: field?.kind === "datetime" ? "timestamp" : "text",
    isDescending: order.isDescending === true,
  };
}

/** What `order by` takes. A reversed order reads the list from its end. */
export function orderBy({ key, isDescending }: ListOrder, r: RecordTable, isReversed = false): SQL {
  const direction = (descending: boolean) => (descending === isReversed ? compose`asc` : compose`desc`);
  // Sorts ids as numbers: of two ids without leading zeros, the longer one is the larger.
  const byId = compose`length(${r.id}) ${direction(false)}, ${r.id} ${direction(false)}`;
  return key === null ? byId : compose`${key} ${direction(isDescending)}, ${byId}`;
}

/** The place of a record in a list: the text of its key, and its id. */
export interface ListPlace {
  key: string | null;
  id: string;
}

/**
 * The condition that a record stands behind a place. The first comparison alone lets the index find the place.
 */
export function isBehind({ key, type, isDescending }: ListOrder, r: RecordTable, place: ListPlace): SQL {
  const id = compose`${place.id}::text collate "C"`;
  const behindId = compose`(length(${r.id}), ${r.id}) > (length(${id}), ${id})`;
  if (key === null) return behindId;
  const value =
    type === "text" ? compose`${place.key}::text collate "C"` : compose`${place.key}::text::timestamp`;
  return isDescending
    ? compose`${key} <= ${value} and (${key} < ${value} or ${behindId})`
    : compose`${key} >= ${value} and (${key} > ${value} or ${behindId})`;
}
