import type { SQL } from "drizzle-orm";
import { type AnyPgColumn, alias } from "drizzle-orm/pg-core";
import type { RecordTable } from "../../mirror/load/tables.ts";
import type { Resource } from "../../resources/resources.ts";
import { compose } from "../../store/connection/run-statement.ts";
import { builds, projects, versions } from "../../store/schema/index.ts";

/** The order of a served list (`docs/internals/service.md`, "Order"): one key of upstream, then the id. */
export interface ListOrder {
  /** An SQL expression over the row `r`, never null, with an index of its own. Null: the id alone. */
  key: SQL | null;
  /** The type of the key, to read it back from its text. */
  type: "text" | "timestamp";
  isDescending: boolean;
}

/**
 * A B-tree holds at most 2,704 bytes a row, and an id takes up to 1,020 of them. Texts that are equal in their
 * first 300 characters are sorted by their id.
 */
const byText = (column: AnyPgColumn) => compose`left(coalesce(${column}, ''), 300) collate "C"`;

const BY_ID: ListOrder = { key: null, type: "text", isDescending: false };

/** Users and files have no order upstream; here it is that of their ids. */
export const LIST_ORDERS: Record<Resource, ListOrder> = {
  user: BY_ID,
  project: { key: byText(alias(projects, "r").slug), type: "text", isDescending: false },
  version: { key: byText(alias(versions, "r").verbose_name), type: "text", isDescending: true },
  file: BY_ID,
  build: {
    key: compose`coalesce(${alias(builds, "r").date}, 'infinity'::timestamp)`,
    type: "timestamp",
    isDescending: true,
  },
};

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
