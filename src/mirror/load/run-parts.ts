import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { Patience } from "../../store/connection/patience.ts";
import type { Sql } from "../../store/connection/sql.ts";
import type { Client } from "../api/client.ts";
import type { Loader } from "./loader.ts";

/** The parts of a run that its steps work with. `load` is the lowest folder with such a step. */
export interface RunParts {
  /** The connections that the run was lent. */
  sql: Sql;
  client: Client;
  loader: Loader;
  clock: Clock;
  log: Logger;
  patience: Patience;
  /** Aborted with the first failure that ends the run, and by a stop. */
  signal: AbortSignal;
  runId: number;
  startedAt: Date;
}
