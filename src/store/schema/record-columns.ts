/** The columns and indexes of a mirrored table, from the declaration of its resource. */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type AnyPgColumn, boolean, type IndexBuilder, index, text } from "drizzle-orm/pg-core";
import {
  columnName,
  type Declaration,
  type Field,
  type FieldKind,
  type Fields,
} from "../../resources/declare.ts";
import { idText, localTimestamp } from "./columns.ts";

const OF_KIND = { string: () => text(), boolean: () => boolean(), datetime: localTimestamp };
const uriColumn = () => text();
const primaryId = () => idText().primaryKey();

type Kinds = typeof OF_KIND;
/** The names of the fields that are columns under their own name. */
type OwnNames<F extends Fields> = {
  [Name in keyof F]: F[Name] extends { long: true }
    ? never
    : F[Name]["kind"] extends keyof Kinds
      ? Name
      : never;
}[keyof F];
type NamesOf<F extends Fields, Kind extends FieldKind> = {
  [Name in keyof F]: F[Name]["kind"] extends Kind ? Name : never;
}[keyof F];
type KindOf<F extends Field> = F["kind"] extends keyof Kinds ? F["kind"] : never;

type Keys<F extends Fields> = NamesOf<F, "uri" | "embedded"> & string;
type ColumnsOf<F extends Fields> = { id: ReturnType<typeof primaryId> } & {
  [Name in OwnNames<F>]: ReturnType<Kinds[KindOf<F[Name]>]>;
} & { [Name in NamesOf<F, "uri"> & string as `${Name}_uri`]: ReturnType<typeof uriColumn> } & {
  [Name in Keys<F> as `${Name}_id`]: ReturnType<typeof idText>;
};

/**
 * The id, the columns of the fields in their order, the URIs of references, and the keys of the records that they refer
 * to. `tables` has the table of each field that has a key.
 */
export function columnsOf<F extends Fields>(
  { fields }: Declaration<string, F>,
  tables: { [Name in Keys<F>]: { id: AnyPgColumn } },
): ColumnsOf<F> {
  const own: Record<string, unknown> = { id: primaryId() };
  const uris: Record<string, unknown> = {};
  const keys: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const { kind } = field;
    if (field.long || kind === "uris") continue;
    if (kind !== "uri" && kind !== "embedded") {
      own[name] = OF_KIND[kind]();
      continue;
    }
    const column = columnName(name, field);
    if (column !== null) uris[column] = uriColumn();
    keys[`${name}_id`] = idText().references(() => tables[name as Keys<F>].id);
  }
  return { ...own, ...uris, ...keys } as ColumnsOf<F>;
}

/** The columns of the long texts. */
export function longColumnsOf<F extends Fields>({ fields }: Declaration<string, F>) {
  const long = Object.keys(fields).filter((name) => fields[name]?.long);
  return Object.fromEntries(long.map((name) => [name, text()])) as {
    [Name in keyof F as F[Name] extends { long: true } ? Name : never]: ReturnType<typeof uriColumn>;
  };
}

/**
 * The indexes of each mirrored table: of the keys of its references, and of the served list: live records in the order of
 * the list (`src/serve/catalog/list-slice.ts`), with the ids as numbers.
 */
export function indexesOf(
  { name, fields, order }: Declaration,
  table: { id: AnyPgColumn; deleted_at: AnyPgColumn },
): IndexBuilder[] {
  const columns = table as Record<string, AnyPgColumn>;
  const keys = Object.keys(fields).flatMap((field) => {
    const column = columns[`${field}_id`];
    return column ? [index(`${name}s_${field}_id`).on(column)] : [];
  });
  const ids: [SQL, AnyPgColumn] = [sql`length(${table.id})`, table.id];
  const list = index(`${name}s_list`);
  // By its bare name, as the migrations have it.
  const key = order && listKey(sql.raw(order.by), fields[order.by]);
  return [
    ...keys,
    (key ? list.on(order.isDescending ? sql`${key} desc` : key, ...ids) : list.on(...ids)).where(
      sql`deleted_at is null`,
    ),
  ];
}

/**
 * The SQL expression of a column by which a list is sorted; never null. A B-tree holds at most 2,704 bytes a row, and an id
 * takes up to 1,020 of them. So texts that are equal in their first 300 characters are sorted by their id.
 */
export function listKey(column: SQLWrapper, field: Field | undefined): SQL {
  return field?.kind === "datetime"
    ? sql`coalesce(${column}, 'infinity'::timestamp)`
    : sql`left(coalesce(${column}, ''), 300) collate "C"`;
}
