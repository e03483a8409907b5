/** A slice of a list: which rows the list has, in which order, and where in it the slice begins. */
import { createHash } from "node:crypto";
import type { SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { LRUCache } from "lru-cache";
import { columnOf, RECORD_TABLES, type RecordTable, recordsAs } from "../../mirror/load/tables.ts";
import { cleanText } from "../../mirror/normalize/clean-text.ts";
import { DECLARATIONS, fieldOf, type Resource, targetOf } from "../../resources/resources.ts";
import { compose, runStatement, type TransactionSql } from "../../store/connection/sql.ts";
import { buildLogs, missingRecords, projects, projectUsers } from "../../store/schema/index.ts";
import { listKey } from "../../store/schema/record-columns.ts";
import type { Filter, ListRequest } from "../protocol/catalog.ts";

const KEPT_COUNTS = 2000;
/** Up to so many matches are found by the indexes of their filters and sorted; more are read in their order. */
const SORTED_MATCHES = 20_000;

/**
 * Finds the ids of slices and counts their lists; each must run in a snapshot. Counts and places are remembered for one
 * revision of a list. A slice in the second half is read from the end when no known place is nearer.
 */
export function createListSlices() {
  const counts = new LRUCache<string, { revision: string; total: number }>({ max: KEPT_COUNTS });
  const places = createListPlaces();

  async function count(
    tx: TransactionSql,
    { name, from }: ReturnType<typeof describeList>,
    revision: string,
  ) {
    const known = counts.get(name);
    if (known?.revision === revision) return known.total;
    const statement = compose`select count(*) as total from ${from}`;
    const [{ total } = { total: 0 }] = await runStatement<{ total: number }>(tx, statement);
    counts.set(name, { revision, total });
    return total;
  }

  return async (
    tx: TransactionSql,
    resource: Resource,
    { filters, offset, limit }: ListRequest,
    revision: string,
  ): Promise<{ ids: string[]; totalCount: number }> => {
    const list = describeList(resource, filters);
    const total = await count(tx, list, revision);
    const size = Math.min(limit, total - offset);
    if (size <= 0) return { ids: [], totalCount: total };

    const order = orderOf(resource);
    const start = places.nearest(list.name, revision, offset);
    const fromStart = offset - (start?.offset ?? 0);
    const fromEnd = total - offset - size;
    const isReversed = fromEnd < fromStart;
    const { r } = list;
    const rowsOf =
      start === null || isReversed ? list.from : compose`${list.from} and ${isBehind(order, r, start.place)}`;
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

/** The rows `r` that upstream's list shows: live, not missing from it, and projects only when it has shown them. */
function describeList(resource: Resource, filters: ListRequest["filters"]) {
  const r = recordsAs(resource, "r");
  const conditions = [
    compose`${r.deleted_at} is null`,
    isShown(resource, r),
    ...filters.map((filter) => filterCondition(resource, filter, "r")),
  ];
  const from = compose`${RECORD_TABLES[resource].table} as ${r} where ${compose.join(conditions, compose` and `)}`;
  // Equal for equal lists. A hash, because the value of a filter may be as long as a URL.
  const hash = createHash("sha256").update(JSON.stringify([resource, filters]));
  return { name: hash.digest("base64url"), r, from };
}

/** The condition that upstream's list shows a row: it has shown the project, and the record is not missing from it. */
export function isShown(resource: Resource, r: RecordTable): SQL {
  const isListed = resource === "project" ? compose`${columnOf(r, projects.listed.name)} and ` : undefined;
  return compose`${isListed}${r.id} <> all (array(
    select ${missingRecords.record_id} from ${missingRecords}
    where ${missingRecords.resource} = ${resource} and ${missingRecords.held_until} is null))`;
}

/** The order of a served list (`docs/internals/service.md`, "Order"): one key of upstream, then the id. */
interface ListOrder {
  /** An SQL expression over the row `r`, never null, with an index of its own. Null: the id alone. */
  key: SQL | null;
  /** The type of the key, to read it back from its text. */
  type: "text" | "timestamp";
  isDescending: boolean;
}

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

/** The terms of `order by`. A reversed order reads the list from its end. */
function orderBy({ key, isDescending }: ListOrder, r: RecordTable, isReversed: boolean): SQL {
  const direction = (descending: boolean) => (descending === isReversed ? compose`asc` : compose`desc`);
  // Sorts ids as numbers: of two ids without leading zeros, the longer one is the larger.
  const byId = compose`length(${r.id}) ${direction(false)}, ${r.id} ${direction(false)}`;
  return key === null ? byId : compose`${key} ${direction(isDescending)}, ${byId}`;
}

/** The place of a record in a list: the text of its key, and its id. */
type ListPlace = { key: string | null; id: string };

/** The condition that a record stands behind a place. The first comparison alone lets the index find the place. */
function isBehind({ key, type, isDescending }: ListOrder, r: RecordTable, place: ListPlace): SQL {
  const id = compose`${place.id}::text collate "C"`;
  const behindId = compose`(length(${r.id}), ${r.id}) > (length(${id}), ${id})`;
  if (key === null) return behindId;
  const value =
    type === "text" ? compose`${place.key}::text collate "C"` : compose`${place.key}::text::timestamp`;
  return isDescending
    ? compose`${key} <= ${value} and (${key} < ${value} or ${behindId})`
    : compose`${key} >= ${value} and (${key} > ${value} or ${behindId})`;
}

/** A list with more known places forgets every second one. */
const PLACES_A_LIST = 4000;
const LISTS = 100;

/**
 * Where slices of a list ended: the record before an offset. A later slice starts at the nearest one, so a walk reads each
 * row once, and a deep offset reads fewer rows the more slices were asked for. Places hold for one revision of their list.
 */
export function createListPlaces() {
  /** Offsets are ascending. */
  type Known = { revision: string; offsets: number[]; places: ListPlace[] };
  const lists = new LRUCache<string, Known>({ max: LISTS });

  return {
    /** The known place with the largest offset that is not behind `offset`. */
    nearest(list: string, revision: string, offset: number): { offset: number; place: ListPlace } | null {
      const known = lists.get(list);
      if (known?.revision !== revision) return null;
      const at = countUpTo(known.offsets, offset) - 1;
      const place = known.places[at];
      return place === undefined ? null : { offset: known.offsets[at] ?? 0, place };
    },
    /** Remembers that `place` is the record just before `offset`. */
    add(list: string, revision: string, offset: number, place: ListPlace): void {
      let known = lists.get(list);
      if (known?.revision !== revision) {
        known = { revision, offsets: [], places: [] };
        lists.set(list, known);
      }
      const at = countUpTo(known.offsets, offset);
      if (known.offsets[at - 1] === offset) return;
      known.offsets.splice(at, 0, offset);
      known.places.splice(at, 0, place);
      if (known.offsets.length <= PLACES_A_LIST) return;
      known.offsets = known.offsets.filter((_, place) => place % 2 === 0);
      known.places = known.places.filter((_, place) => place % 2 === 0);
    },
  };
}

/** Counts the ascending numbers that are at most `limit`. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The SQL condition of a filter over the rows of its resource, which are called `name`. Names of fields come from the
 * lists of documented fields alone.
 */
function filterCondition(resource: Resource, { path, value }: Filter, name: string): SQL {
  const [field = "", ...rest] = path;
  const declared = fieldOf(resource, field);
  const kind = declared?.kind;
  const related = targetOf(declared);
  const text = cleanText(String(value), { nul: 0 });
  const row = recordsAs(resource, name);
  if (related === undefined) {
    if (declared?.long) {
      const logs = alias(buildLogs, "logs");
      return compose`exists (
        select from ${buildLogs} as ${logs} where ${logs.build_id} = ${row.id} and ${columnOf(logs, field)} = ${text})`;
    }
    const column = columnOf(row, field);
    if (kind === "boolean") return compose`${column} = ${value}`;
    if (kind === "datetime") return compose`${column} = ${value}::text::timestamp`;
    return compose`${column} = ${text}`;
  }
  const isAdministeredBy = (users: SQL) => compose`${row.id} = any (array(
    select ${projectUsers.project_id} from ${projectUsers} where ${users}))`;
  if (rest.length > 0) {
    const target = recordsAs(related, `${name}${name.length}`);
    const inner = filterCondition(related, { path: rest, value }, `${name}${name.length}`);
    // An array, so that the ids are found once and the index on the reference finds the rows.
    const ids = compose`array(select ${target.id} from ${RECORD_TABLES[related].table} as ${target} where ${inner})`;
    return kind === "uris"
      ? isAdministeredBy(compose`${projectUsers.user_id} = any (${ids})`)
      : compose`${columnOf(row, `${field}_id`)} = any (${ids})`;
  }
  // A reference to a record that is not in the mirror has the key in its URI alone.
  const uri = `%/api/v1/${related}/${encodeURIComponent(text).replace(/[%_\\]/g, "\\$&")}/`;
  if (kind === "uris") {
    const { user_id, user_uri } = projectUsers;
    const isNamed = compose`${user_id} = ${text} or (${user_id} is null and ${user_uri} like ${uri})`;
    return isAdministeredBy(isNamed);
  }
  const key = columnOf(row, `${field}_id`);
  // An embedded project always has its id.
  if (kind === "embedded") return compose`${key} = ${text}`;
  // So has a reference that names its project by the slug, though the project is there.
  const named =
    related === "project"
      ? compose` or ${key} = any (array(select ${projects.id} from ${projects} where ${projects.slug} = ${text}))`
      : undefined;
  return compose`(${key} = ${text}
    or ((${key} is null${named}) and ${columnOf(row, `${field}_uri`)} like ${uri}))`;
}
