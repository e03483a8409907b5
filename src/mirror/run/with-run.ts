/**
 * Opens and closes every run, of a sync or a watch: lock, ledger, one client, and an end with the result.
 *
 *   running ──▶ succeeded    everything was read and stored
 *           ──▶ partial      the stored data is consistent, but a walk is not whole, a count does not agree,
 *                            work is left, or records are in quarantine
 *           ──▶ failed       upstream or the database could not be used
 *           ──▶ interrupted  asked to stop, or the process died; the next run resumes at the checkpoints
 */

import { setMaxListeners } from "node:events";
import type { Clock } from "../../base/clock.ts";
import { isUpstreamLost, LockedError, messageOf, UpstreamError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Meters } from "../../base/metrics/meters.ts";
import { counted } from "../../base/text.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { connect, renewConnections } from "../../store/connection/connect.ts";
import { createPatience } from "../../store/connection/patience.ts";
import { SharedSessionError } from "../../store/connection/session-pooling.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { QUERY_CANCELED, sqlstateOf, toStoreError } from "../../store/connection/store-errors.ts";
import { findPlace, notePlace } from "../../store/ledger/database-place.ts";
import { assertService } from "../../store/ledger/mirrored-service.ts";
import { assertRunOpen, beatHeart, type RunTotals, startRun } from "../../store/ledger/run-ledger.ts";
import { acquireRunLock, type RunLock } from "../../store/ledger/run-lock.ts";
import type { RunKind } from "../../store/schema/runs.ts";
import { type Client, type ClientOptions, createClient } from "../api/client.ts";
import type { HostPace } from "../api/host-pace.ts";
import type { SyncSettings } from "../lists/plan.ts";
import { NOTHING_UNFINISHED } from "../lists/summary.ts";
import { createKnownKeys, createLookedUpKeys } from "../load/known-keys.ts";
import { createLoader, type Loader, type RunParts } from "../load/loader.ts";
import { closeRun, isSomethingRead, type RunEnding, type RunResult } from "./close-run.ts";
import { createDamaged, createWarnings } from "./warnings.ts";

export interface RunOptions {
  settings: SyncSettings;
  /** The pace that all runs of the process share, with the same `settings.ratePerSecond`. @default the run's own */
  pace?: HostPace;
  /** Called in the transaction that opens the run. Throws `LockedError` when another process leads by now. */
  assertMayRun?(tx: TransactionSql): Promise<void>;
  clock: Clock;
  log: Logger;
  meters?: Meters;
  signal: AbortSignal;
}

export interface OpenRun extends Readonly<RunParts> {
  readonly meters: Meters | undefined;
  /** Aborted with the first failure that ends the run: of the database, a bug, a lost lock, a stop. */
  readonly abort: AbortController;
  readonly totals: RunTotals;
  readonly warn: (message: string) => void;
  /** The results of the run so far. Its work fills them in. */
  readonly ending: RunEnding;
}

const CANCEL_EVERY_MS = 100;

/** Throws only errors from before the run began (`LockedError`, `StoreError`). Errors of the work are in the result. */
export async function withRun(
  options: RunOptions,
  kind: RunKind,
  work: (run: OpenRun) => Promise<void>,
): Promise<RunResult> {
  const { settings, clock, log, signal } = options;
  const patience = { clock, log, signal };
  // A round of the watch is short. It does not wait for other runs, but they wait for it.
  const isWatch = kind === "watch";
  const outlast = isWatch ? {} : { outlast: { clock, signal } };
  const lock = await acquireRunLock(settings.databaseUrl, { patience, ...outlast });
  // A run continues after the server has crashed and restarted, so all confirmed commits must still be there.
  const session = { synchronous_commit: "on" };
  const applicationName = `docmirror ${isWatch ? "watch" : "sync"}`;
  const sql = connect(settings.databaseUrl, { applicationName, max: 4, session, log });
  // A stop does not wait for another session, which may keep a table for hours.
  let waits: NodeJS.Timeout | undefined;
  const stop = () => {
    waits = setInterval(() => void lock.cancelWaits(applicationName), CANCEL_EVERY_MS);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await runLocked(options, kind, work, sql, lock);
  } catch (error) {
    throw stopOr(error, signal);
  } finally {
    signal.removeEventListener("abort", stop);
    // A statement that began to wait last would hold its session up, and wait on behind a connection that is closed.
    await sql.end({ timeout: 5 });
    clearInterval(waits);
    await lock.release();
    log.debug({ at: clock.now().toISOString() }, "run lock released");
  }
}

/** What ended a run: the stop, where that had a statement cancelled. */
const stopOr = (error: unknown, signal: AbortSignal): unknown =>
  signal.aborted && sqlstateOf(error) === QUERY_CANCELED
    ? signal.reason
    : toStoreError(error, "run the sync");

async function runLocked(
  options: RunOptions,
  kind: RunKind,
  work: (run: OpenRun) => Promise<void>,
  sql: Sql,
  lock: RunLock,
): Promise<RunResult> {
  const { settings, clock, meters } = options;
  const startedAt = clock.now();
  // A failure of the database, or a bug, in one walk ends the others too.
  const abort = new AbortController();
  // Every request and every place in the queue listens to this signal.
  setMaxListeners(0, abort.signal);
  const forward = () => abort.abort(options.signal.reason);
  options.signal.addEventListener("abort", forward, { once: true });
  if (options.signal.aborted) forward();

  const totals: RunTotals = {
    ...{ requests: 0, bytes: 0, replacedNul: 0, resolved: 0, unresolved: 0, transitions: 0, changed: 0 },
    ...{ clockAhead: null, unfinished: { ...NOTHING_UNFINISHED } },
  };
  const waits = { clock, signal: abort.signal, regain: lock.hold, renew: () => renewConnections(sql) };
  const opening = createPatience({ ...waits, log: options.log });
  // The server may not know the zone, which would else show after the lists are read.
  await opening(
    "read dates in the time zone of the service",
    () => sql`select now() at time zone ${settings.sourceTimezone}`,
  );
  await opening("read the service of the mirror", () => assertService(sql, settings.baseUrl));
  const found = await opening("find whether the database was restored", () => findPlace(sql));
  const { interrupted, runId } = await opening("open the run", () =>
    startRun(sql, kind, startedAt.toISOString(), options.assertMayRun),
  );
  // From here on each line is of this run.
  const log = options.log.child({ run_id: runId });
  log.debug({ kind }, "run opened");
  for (const id of interrupted)
    log.warn({ dead_run_id: id }, "an earlier run had died; closed it as interrupted");
  const patience = createPatience({ ...waits, log, hasWritten: true });
  const warnings = createWarnings(log);
  if (found.movedAfter) {
    const { runId: last, at } = found.movedAfter;
    const since = `since run ${last} of ${at} this database was restored, copied or moved, or a standby took over`;
    warnings.warn(`${since}; if runs came after that one, what they stored is not here`);
  }
  const client = createRunClient(options, { log, signal: abort.signal, onWarning: warnings.warn });
  const heart = startHeart(sql, runId, lock, (reason) => abort.abort(reason));
  const damaged = createDamaged(log);
  const details = { refused: 0 };
  const loader = countTotals(
    createLoader({
      ...{ sql, runId, startedAt, patience },
      keys: kind === "watch" ? createLookedUpKeys(sql) : createKnownKeys(sql),
      baseUrl: settings.baseUrl,
      sourceTimezone: settings.sourceTimezone,
      clockAhead: client.clockAhead,
      assertMayWrite: (tx) => assertRunOpen(tx, runId),
      meter: meters?.store,
    }),
    { totals, meters, details, damaged },
  );
  const ending: RunEnding = { kind, resources: {}, error: null, brokenBy: null, isPartial: false };
  try {
    await work({
      ...{ runId, startedAt, sql, client, loader, patience, clock, log, meters, totals, ending },
      ...{ signal: abort.signal, abort, warn: warnings.warn },
    });
  } catch (reason) {
    ending.error = stopOr(reason, options.signal);
  } finally {
    heart.stop();
    options.signal.removeEventListener("abort", forward);
    await client.close();
  }

  Object.assign(totals, client.stats(), { clockAhead: client.clockAhead() });
  // A lost host matters more than a missing resource.
  const isUpstreamFault = ending.error === null || ending.error instanceof UpstreamError;
  if (client.lost.aborted && isUpstreamFault) ending.error = client.lost.reason;
  // A list that was refused or got no answer is worth another try soon; one with a wrong form is not.
  if (isUpstreamLost(ending.brokenBy) || !isSomethingRead(ending.resources)) ending.error ??= ending.brokenBy;
  for (const { resource, field, records, example } of loader.unread()) {
    ending.isPartial = true;
    warnings.warn(
      `the field ${field} of ${resource}s was readable, and is not in ${counted(records, "record")} read now, such as ${example}: ` +
        "the mirror keeps the values that it has; see whether a newer docmirror reads it",
    );
  }
  for (const { resource, field, example } of loader.unnamed())
    warnings.warn(
      `the field ${field} of ${resource}s names no ${field} that can be found, such as ${example}: reports show them without one`,
    );
  if (details.refused > 0) {
    ending.isPartial = true;
    warnings.warn(
      `${details.refused} records that were asked for one by one could not be stored; see \`docmirror quarantine\``,
    );
  }
  if (damaged.count > 0) warnings.warn(damaged.describe());
  const told = { warnings: warnings.list(), damaged: damaged.count, askedFor: client.asked() };
  const result = await closeRun({ sql, lock, clock, log, meters, runId, startedAt, totals, ending, ...told });
  // A run that was stopped or lost its database may have told nobody.
  if (ending.error === null || ending.error instanceof UpstreamError) {
    await notePlace(sql, runId, found).catch((reason: unknown) => {
      log.warn({ error: messageOf(reason) }, "could not note where the database is; the next run does");
    });
  }
  log.debug({ kind: ending.kind, status: result.summary.status }, "run closed");
  return result;
}

export function createRunClient(
  { settings, pace, clock, meters }: Pick<RunOptions, "settings" | "pace" | "clock" | "meters">,
  own: Required<Pick<ClientOptions, "log" | "signal" | "onWarning">>,
): Client {
  const run = { clock, meter: meters?.requests };
  return createClient({ ...settings, ...(pace && { pace }), isExact: true, ...run, ...own });
}

/** `details`: the records outside the walks that went to quarantine. */
type Counters = Pick<OpenRun, "totals" | "meters"> & {
  details: { refused: number };
  damaged: ReturnType<typeof createDamaged>;
};

/** The loader, with its counts added to the totals of the run. The pages of a walk are counted by the walk. */
function countTotals(loader: Loader, { totals, meters, details, damaged }: Counters): Loader {
  return {
    ...loader,
    async load(batch, alongside) {
      const counts = await loader.load(batch, alongside);
      if (batch.source === "detail") meters?.runs.settled(batch.resource, counts);
      if (alongside === undefined) details.refused += counts.quarantined;
      totals.transitions += counts.transitions;
      totals.changed += counts.inserted + counts.updated + counts.restored + counts.quarantined;
      totals.replacedNul += counts.replacedNul;
      damaged.add(batch.resource, counts.damaged);
      return counts;
    },
    async retire(gone, alongside) {
      const retired = await loader.retire(gone, alongside);
      totals.transitions += retired.transitions;
      totals.changed += gone.length;
      for (const resource of RESOURCES)
        meters?.runs.settled(resource, { deleted: retired.counts[resource] ?? 0 });
      return retired;
    },
    async vanish(builds) {
      const transitions = await loader.vanish(builds);
      totals.transitions += transitions;
      return transitions;
    },
  };
}

const HEARTBEAT_MS = 5000;

/** Shows that the run is alive. Calls `onLost` when another run has the lock, or it cannot be held. */
export function startHeart(
  sql: Sql,
  runId: number,
  lock: Pick<RunLock, "hold">,
  onLost: (reason: LockedError | SharedSessionError) => void,
) {
  let isBeating = false;
  const beat = async () => {
    if (isBeating) return;
    isBeating = true;
    try {
      await lock.hold();
      await beatHeart(sql, runId);
    } catch (error) {
      // If the database is away, the work itself waits for it.
      if (error instanceof LockedError || error instanceof SharedSessionError) onLost(error);
    } finally {
      isBeating = false;
    }
  };
  const timer = setInterval(() => void beat(), HEARTBEAT_MS);
  return { stop: () => clearInterval(timer) };
}
