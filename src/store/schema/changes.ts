import { bigint, index, integer, jsonb, primaryKey, text } from "drizzle-orm/pg-core";
import type { Resource } from "../../resources/resources.ts";
import { idText, moment } from "./columns.ts";
import { mirror } from "./schemas.ts";

/** Updates, deletions and restorations of records, with the changed fields only. */
export const changes = mirror.table(
  "changes",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    resource: text().$type<Resource>().notNull(),
    record_id: idText().notNull(),
    run_id: bigint({ mode: "number" }).notNull(),
    observed_at: moment().notNull(),
    kind: text().$type<"updated" | "deleted" | "restored">().notNull(),
    before: jsonb(),
    after: jsonb(),
  },
  (table) => [
    index("changes_record").on(table.resource, table.record_id, table.id),
    index("changes_observed").on(table.resource, table.observed_at),
  ],
);

/** References whose record is not in the mirror. `position` is the place in a list of references, else 0. */
export const unresolvedReferences = mirror.table(
  "unresolved_references",
  {
    resource: text().$type<Resource>().notNull(),
    record_id: idText().notNull(),
    field: text().notNull(),
    position: integer().notNull(),
    uri: text().notNull(),
    status: text().$type<"pending" | "gone" | "foreign" | "malformed">().notNull(),
    /** When upstream last answered that it does not have the record. Null before that. */
    checked_at: moment(),
    /** When its detail was last requested, whatever the answer was. */
    asked_at: moment(),
    /** The record that the URI names, parsed once when the reference was stored. Null when it names none. */
    target_resource: text().$type<Resource>(),
    target_key: text(),
  },
  (table) => [primaryKey({ columns: [table.resource, table.record_id, table.field, table.position] })],
);
