import { sql } from "drizzle-orm";
import { bigint, customType, integer, jsonb, pgSchema, timestamp } from "drizzle-orm/pg-core";

// The migrations say what each table and column means (`comment on`). A comment here says why it is so.

/** The records of upstream, under upstream's names. */
export const mirror = pgSchema("mirror");
/** The reading of the mirror: runs, walks, and records that could not be stored. */
export const sync = pgSchema("sync");
/** The reports: everything that a BI tool needs, and all that its role may read. */
export const report = pgSchema("report");
/** Stored answers for the views of `report`. */
export const rollup = pgSchema("rollup");

/**
 * An id as upstream sends it. The C collation compares bytes: a load takes 1.65 times as long as with bigint,
 * and longer with other collations.
 */
export const idText = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' });

export const bytea = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/**
 * A timestamp of upstream, without a zone, to the microsecond. It is text because a JavaScript Date would drop the last digits.
 */
export const localTimestamp = () => timestamp({ precision: 6, mode: "string" });

/** A moment by our own clock. */
export const moment = () => timestamp({ withTimezone: true, precision: 6, mode: "string" });

export const now = sql`now()`;

/** Up to 2^53: a count, or the number of a run. */
export const wholeNumber = () => bigint({ mode: "number" });

/** A number that a row has from its begin: how many, or 0. */
export const count = () => wholeNumber().notNull().default(0);

/** A small number that a row always has. */
export const amount = () => integer().notNull();

/** The number of a run that a row always names. */
export const runId = () => wholeNumber().notNull();

/** Data of a record that has no column (`docs/tables.md`, "On every mirrored table"). */
export interface Extra {
  /** Fields as they were sent: unknown ones, and known ones whose value the column cannot give back. */
  values?: Record<string, unknown>;
  /** Documented fields that the record did not have at all. A null is not a missing field. */
  missing?: string[];
  /** Fields without documentation that only details have shown, so a list that lacks them says nothing of them. */
  details?: string[];
}

/** The columns that every mirrored table has in addition to those of upstream. */
export const bookkeeping = () => ({
  extra: jsonb().$type<Extra>(),
  first_seen_at: moment().notNull(),
  changed_at: moment().notNull(),
  deleted_at: moment(),
  /** The first 16 bytes of the SHA-256 of the record as sent, without regard to key order. Equal hashes mean equal records. */
  record_hash: bytea().notNull(),
  /** The run that added the row. Runs show the order of events, because a clock may be wrong. */
  first_seen_run_id: count(),
  /** The run that wrote `changed_at`. */
  changed_run_id: count(),
});
