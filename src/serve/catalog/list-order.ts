import type { Resource } from "../../resources/resources.ts";

/** The order of a served list (`docs/internals/service.md`, "Order"): one key of upstream, then the id. */
export interface ListOrder {
  /** An SQL expression over the row `r`, never null, with an index of its own. Null: the id alone. */
  key: string | null;
  /** The type of the key, to read it back from its text. */
  type: "text" | "timestamp";
  isDescending: boolean;
}

/**
 * A B-tree holds at most 2,704 bytes a row, and an id takes up to 1,020 of them. Texts that are equal in their
 * first 300 characters are sorted by their id.
 */
const byText = (column: string) => `left(coalesce(r.${column}, ''), 300) collate "C"`;

const BY_ID: ListOrder = { key: null, type: "text", isDescending: false };

/** Users and files have no order upstream; here it is that of their ids. */
export const LIST_ORDERS: Record<Resource, ListOrder> = {
  user: BY_ID,
  project: { key: byText("slug"), type: "text", isDescending: false },
  version: { key: byText("verbose_name"), type: "text", isDescending: true },
  file: BY_ID,
  build: { key: "coalesce(r.date, 'infinity'::timestamp)", type: "timestamp", isDescending: true },
};

/** Sorts ids as numbers: of two ids without leading zeros, the longer one is the larger. */
const ID_KEYS = ["length(r.id)", "r.id"];

/** What `order by` takes. A reversed order reads the list from its end. */
export function orderBy({ key, isDescending }: ListOrder, isReversed = false): string {
  const direction = (descending: boolean) => (descending === isReversed ? "asc" : "desc");
  const ids = ID_KEYS.map((id) => `${id} ${direction(false)}`);
  return [...(key === null ? [] : [`${key} ${direction(isDescending)}`]), ...ids].join(", ");
}

/** The place of a record in a list: the text of its key, and its id. */
export interface ListPlace {
  key: string | null;
  id: string;
}

/**
 * The condition that a record stands behind a place. The first comparison alone lets the index find the place.
 */
export function isBehind(
  { key, type, isDescending }: ListOrder,
  place: ListPlace,
  params: unknown[],
): string {
  params.push(place.id);
  const id = `$${params.length}::text collate "C"`;
  const behindId = `(length(r.id), r.id) > (length(${id}), ${id})`;
  if (key === null) return behindId;
  params.push(place.key);
  const value = `$${params.length}::text::${type}${type === "text" ? ' collate "C"' : ""}`;
  const [from, behind] = isDescending ? ["<=", "<"] : [">=", ">"];
  return `${key} ${from} ${value} and (${key} ${behind} ${value} or ${behindId})`;
}
