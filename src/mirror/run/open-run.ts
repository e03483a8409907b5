import type { UpstreamError } from "../../base/errors.ts";
import type { Meters } from "../../base/metrics/meters.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import type { RunTotals } from "../../store/ledger/run-ledger.ts";
import type { RunKind } from "../../store/schema/runs.ts";
import type { RunSummary } from "../lists/summary.ts";
import type { RunParts } from "../load/run-parts.ts";

/** The results of a run so far. Its work fills them in. */
export interface RunEnding {
  kind: RunKind;
  resources: RunSummary["resources"];
  error: unknown;
  /** The failure of upstream that ended a walk. It is the run's when no page was read, or it may pass. */
  brokenBy: UpstreamError | null;
  /** Set by work that left something undone that neither walks nor phases show. @default false */
  isPartial: boolean;
}

/** A run under way, as its work gets it. */
export interface OpenRun extends Readonly<RunParts> {
  readonly meters: Meters | undefined;
  /** Aborted with the first failure that ends the run: of the database, a bug, a lost lock, a stop. */
  readonly abort: AbortController;
  readonly totals: RunTotals;
  /** For people, in the summary. */
  readonly warn: (message: string) => void;
  /** In each transaction that writes: throws `LockedError` where another run has begun since. */
  readonly assertMayWrite: (tx: TransactionSql) => Promise<void>;
  readonly ending: RunEnding;
}
