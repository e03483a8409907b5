import { bigint, index, integer, jsonb, primaryKey, text } from "drizzle-orm/pg-core";
import type { Resource } from "../../wire/resources.ts";
import { idText, moment } from "./columns.ts";
import { mirror } from "./schemas.ts";

/** What happened to records after their insertion, with the changed fields alone. */
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

/** References whose record is not here. `position` is the place in a list of references, 0 elsewhere. */
export const unresolvedReferences = mirror.table(
  "unresolved_references",
  {
    resource: text().$type<Resource>().notNull(),
    record_id: idText().notNull(),
    field: text().notNull(),
    position: integer().notNull(),
    uri: text().notNull(),
    status: text().$type<"pending" | "gone" | "foreign" | "malformed">().notNull(),
    /** When upstream was last found not to have the record; null before that. */
    checked_at: moment(),
    /** When its detail was last asked for, whatever came. */
    asked_at: moment(),
    /** The record that the URI names, read once when the reference was stored; null when it names none. */
    target_resource: text().$type<Resource>(),
    target_key: text(),
  },
  (table) => [primaryKey({ columns: [table.resource, table.record_id, table.field, table.position] })],
);
