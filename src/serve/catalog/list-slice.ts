import { createHash } from "node:crypto";
import type { SQL } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import { columnOf, RECORD_TABLES, type RecordTable, recordsAs } from "../../mirror/load/tables.ts";
import type { Resource } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { missingRecords, projects } from "../../store/schema/index.ts";
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
    const [found] = await runStatement<{ total: number }>(
      tx,
      compose`select count(*) as total from ${list.from}`,
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
    const { r } = list;
    const isWhole = start === null || isReversed;
    const rowsOf = isWhole ? list.from : compose`${list.from} and ${isBehind(order, r, start.place)}`;
    const key = order.key === null ? compose`null` : compose`(${order.key})::text`;
    // The planner would read the whole list in its order to find the few matches of a rare value.
    const isSorted = filters.length > 0 && total <= SORTED_MATCHES;
    const from = isSorted ? compose`(select * from ${rowsOf} offset 0) as ${r}` : rowsOf;
    const rows = await runStatement<{ id: string; key: string | null }>(
      tx,
      compose`
        select ${r.id}, ${key} as key from ${from}
        order by ${orderBy(order, r, isReversed)} offset ${isReversed ? fromEnd : fromStart} limit ${size}`,
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
  /** The rows, as they are called in `from`. */
  r: RecordTable;
  /** `TABLE as r where …` */
  from: SQL;
}

/** The rows that upstream's list shows: live, not missing from it, and projects only when it has shown them. */
function describeList(resource: Resource, filters: ListRequest["filters"]): List {
  const r = recordsAs(resource, "r");
  const conditions = [
    compose`${r.deleted_at} is null`,
    isShown(resource, r),
    ...filters.map((filter) => filterCondition(resource, filter, "r")),
  ];
  return {
    // A hash, because the value of a filter may be as long as a URL.
    name: createHash("sha256")
      .update(JSON.stringify([resource, filters]))
      .digest("base64url"),
    r,
    from: compose`${RECORD_TABLES[resource].table} as ${r} where ${compose.join(conditions, compose` and `)}`,
  };
}

/** The condition that upstream's list shows a row: it has shown the project, and the record is not missing from it. */
export function isShown(resource: Resource, r: RecordTable): SQL {
  const isListed = resource === "project" ? compose`${columnOf(r, projects.listed.name)} and ` : undefined;
  return compose`${isListed}${r.id} <> all (array(
    select ${missingRecords.record_id} from ${missingRecords} where ${missingRecords.resource} = ${resource}))`;
}
