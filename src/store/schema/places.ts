import { bigint, jsonb } from "drizzle-orm/pg-core";
import { moment, now } from "./columns.ts";
import { sync } from "./schemas.ts";

/** Where this database was: the first run that ended there, and what tells that place from others. */
export const places = sync.table("places", {
  run_id: bigint({ mode: "number" }).primaryKey(),
  /** `Place` in `src/store/ledger/database-place.ts`. */
  place: jsonb().$type<Record<string, string | null>>().notNull(),
  noted_at: moment().notNull().default(now),
});
