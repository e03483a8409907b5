import { integer, text, unique } from "drizzle-orm/pg-core";
import { moment, sync, wholeNumber } from "./columns.ts";

/** The works of which each is done by one process at a time (`src/store/ledger/leases.ts`). */
export type LeaseName = "run" | "lead" | "content";

export const leases = sync.table(
  "leases",
  {
    name: text().$type<LeaseName>().primaryKey(),
    /** Counts the holders. What a holder writes proves its term. */
    term: wholeNumber().notNull(),
    /** A random name of the process. All of its connections end their application name with it. */
    instance: text().notNull(),
    pid: integer().notNull(),
    host: text().notNull(),
    since: moment().notNull(),
    renewed_at: moment().notNull(),
    /** By the clock of Postgres. In the past once it was released. */
    until: moment().notNull(),
    /** The session of the holder, which ends with its process. Null behind a pooler, whose sessions stay. */
    backend_pid: integer(),
    backend_start: moment(),
  },
  // A change of the term counts as one of the key: a takeover waits for those that read the row for key share, a renewal does not.
  (table) => [unique("leases_term").on(table.name, table.term)],
);
