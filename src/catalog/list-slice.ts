import { LRUCache } from "lru-cache";
import type { TransactionSql } from "../db/connect.ts";
import { RECORD_TABLES } from "../load/tables.ts";
import type { ListQuery } from "../protocol/catalog.ts";
import type { Resource } from "../wire/resources.ts";
import { filterCondition } from "./filter-condition.ts";
import { isBehind, LIST_ORDERS, type ListPlace, orderBy } from "./list-order.ts";

const KEPT_COUNTS = 2000;
const KEPT_PLACES = 10_000;

export interface IdSlice {
  ids: string[];
  totalCount: number;
}

/** Finds the ids of a slice and counts the list. Must run in a snapshot. */
export type ListSlices = (
  tx: TransactionSql,
  resource: Resource,
  query: ListQuery,
  revision: string,
) => Promise<IdSlice>;

/**
 * A deep offset must not read all rows before it. So the place where a slice ended is remembered, and the next
 * slice starts there; a slice in the second half is read from the end of the list. Counts are remembered too.
 * Both hold for one revision of the list.
 */
export function createListSlices(): ListSlices {
  const counts = new LRUCache<string, { revision: string; total: number }>({ max: KEPT_COUNTS });
  const places = new LRUCache<string, { revision: string; place: ListPlace }>({ max: KEPT_PLACES });

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
    const known = places.get(`${list.name} ${offset}`);
    const start = known?.revision === revision ? known.place : null;
    const isReversed = start === null && offset > total / 2;
    const skipped = start !== null ? 0 : isReversed ? total - offset - size : offset;
    const params = [...list.params];
    const behind = start === null ? "" : ` and ${isBehind(order, start, params)}`;
    const rows = await tx.unsafe<{ id: string; key: string | null }[]>(
      `select r.id, ${order.key === null ? "null" : `(${order.key})::text`} as key from ${list.from}${behind}
       order by ${orderBy(order, isReversed)} offset ${skipped} limit ${size}`,
      params as never[],
    );
    const found = isReversed ? rows.toReversed() : [...rows];
    const last = found.at(-1);
    if (last) places.set(`${list.name} ${offset + found.length}`, { revision, place: { ...last } });
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
function describeList(resource: Resource, filters: ListQuery["filters"]): List {
  const params: unknown[] = [];
  const conditions = [
    "r.deleted_at is null",
    ...(resource === "project" ? ["r.listed"] : []),
    isShown(resource),
    ...filters.map((filter) => filterCondition(resource, filter, params)),
  ];
  return {
    name: JSON.stringify([resource, filters]),
    from: `${RECORD_TABLES[resource].name} as r where ${conditions.join(" and ")}`,
    params,
  };
}

/** The condition that a row `r` is not missing from upstream's list. */
export function isShown(resource: Resource): string {
  return `r.id <> all (array(select record_id from sync.missing_records where resource = '${resource}'))`;
}
