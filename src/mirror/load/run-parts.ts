import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { Patience } from "../../store/connection/patience.ts";
import type { Sql } from "../../store/connection/sql.ts";
import type { Client } from "../api/client.ts";
import type { Loader } from "./loader.ts";

/** What each step of a run works with. */
export interface RunParts {
  sql: Sql;
  client: Client;
  loader: Loader;
  clock: Clock;
  log: Logger;
  /** How to wait for a database that is away. */
  patience: Patience;
  signal: AbortSignal;
  runId: number;
  startedAt: Date;
}
