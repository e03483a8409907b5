import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { RECORD_TABLES } from "../../mirror/load/tables.ts";
import type { Resource } from "../../resources/resources.ts";
import type { TransactionSql } from "../../store/connection/connect.ts";
import type { ListRequest } from "../protocol/catalog.ts";
import { filterCondition } from "./filter-condition.ts";
import { isBehind, LIST_ORDERS, orderBy } from "./list-order.ts";
import { createListPlaces } from "./list-places.ts";

const KEPT_COUNTS = 2000;
/** Up to so many matches are found by the indexes of their filters and sorted; more are read in their order. */
const SORTED_MATCHES = 20_000;

export interface IdSlice {
  ids: string[];
  totalCount: number;
}

/** Finds the ids of a slice and counts the list. Must run in a snapshot. */
export type ListSlices = (
  tx: TransactionSql,
  resource: Resource,
  query: ListRequest,
  revision: string,
) => Promise<IdSlice>;

/**
 * Counts are remembered, and so are places in the list, each for one revision of it. A slice in the second half
 * is read from the end of the list when no known place is nearer.
 */
export function createListSlices(): ListSlices {
  const counts = new LRUCache<string, { revision: string; total: number }>({ max: KEPT_COUNTS });
  const places = createListPlaces();

  async function count(tx: TransactionSql, list: List, revision: string): Promise<number> {
    const known = counts.get(list.name);
    if (known?.revision === revision) return known.total;
    const [found] = await tx.unsafe<{ total: number }[]>(
      `select count(*) as total from ${list.from}`,
      list.params as never[],
    );
    const total = found?.total ?? 0;
    counts.set(list.name, { revision, total });
    return total;
  }

  return async (tx, resource, { filters, offset, limit }, revision) => {
    const list = describeList(resource, filters);
    const total = await count(tx, list, revision);
    const size = Math.min(limit, total - offset);
    if (size <= 0) return { ids: [], totalCount: total };

    const order = LIST_ORDERS[resource];
    const start = places.nearest(list.name, revision, offset);
    const fromStart = offset - (start?.offset ?? 0);
    const fromEnd = total - offset - size;
    const isReversed = fromEnd < fromStart;
    const params = [...list.params];
    const behind = start === null || isReversed ? "" : ` and ${isBehind(order, start.place, params)}`;
    const key = order.key === null ? "null" : `(${order.key})::text`;
    // The planner would read the whole list in its order to find the few matches of a rare value.
    const isSorted = filters.length > 0 && total <= SORTED_MATCHES;
    const from = isSorted ? `(select * from ${list.from}${behind} offset 0) as r` : `${list.from}${behind}`;
    const rows = await tx.unsafe<{ id: string; key: string | null }[]>(
      `select r.id, ${key} as key from ${from}
       order by ${orderBy(order, isReversed)} offset ${isReversed ? fromEnd : fromStart} limit ${size}`,
      params as never[],
    );
    const found = isReversed ? rows.toReversed() : [...rows];
    const last = found.at(-1);
    // No slice starts behind the end, and the many short lists would drive out the long ones.
    const end = offset + found.length;
    if (last && end < total) places.add(list.name, revision, end, { ...last });
    return { ids: found.map(({ id }) => id), totalCount: total };
  };
}

interface List {
  /** Equal for equal lists. */
  name: string;
  /** `TABLE as r where …`, over `params`. */
  from: string;
  params: unknown[];
}

/** The rows that upstream's list shows: live, not missing from it, and projects only when it has shown them. */
function describeList(resource: Resource, filters: ListRequest["filters"]): List {
  const params: unknown[] = [];
  const conditions = [
    "r.deleted_at is null",
    ...(resource === "project" ? ["r.listed"] : []),
    isShown(resource),
    ...filters.map((filter) => filterCondition(resource, filter, params)),
  ];
  return {
    // A hash, because the value of a filter may be as long as a URL.
    name: createHash("sha256")
      .update(JSON.stringify([resource, filters]))
      .digest("base64url"),
    from: `${RECORD_TABLES[resource].name} as r where ${conditions.join(" and ")}`,
    params,
  };
}

/** The condition that a row `r` is not missing from upstream's list. */
export function isShown(resource: Resource): string {
  return `r.id <> all (array(select record_id from sync.missing_records where resource = '${resource}'))`;
}
