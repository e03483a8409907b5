/**
 * Opens and closes every run, of a sync or a watch: lease, ledger, one client, and an end with the result.
 *
 *   running ──▶ succeeded    everything was read and stored
 *           ──▶ partial      the stored data is consistent, but a walk is not whole, a count does not agree,
 *                            work is left, or records are in quarantine
 *           ──▶ failed       upstream or the database could not be used
 *           ──▶ interrupted  asked to stop, or the process died; the next run resumes at the checkpoints
 */

import { setMaxListeners } from "node:events";
import type { Clock } from "../../base/clock.ts";
import { LockedError, messageOf, UpstreamError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Meters } from "../../base/metrics/meters.ts";
import { counted } from "../../base/text.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { createPatience } from "../../store/connection/patience.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { QUERY_CANCELED, sqlstateOf, toStoreError } from "../../store/connection/store-errors.ts";
import type { Connections } from "../../store/ledger/connections.ts";
import { findPlace, notePlace } from "../../store/ledger/database-place.ts";
import { type Lease, RENEW_MS } from "../../store/ledger/leases.ts";
import { assertService } from "../../store/ledger/mirrored-service.ts";
import { takeRunLease } from "../../store/ledger/run-lease.ts";
import { beatHeart, closedElsewhere, type RunTotals, startRun } from "../../store/ledger/run-ledger.ts";
import type { RunKind } from "../../store/schema/runs.ts";
import { type Client, type ClientOptions, createClient } from "../api/client.ts";
import { isUpstreamLost } from "../api/fates.ts";
import type { HostPace } from "../api/host-pace.ts";
import type { SyncSettings } from "../lists/plan.ts";
import { NOTHING_UNFINISHED } from "../lists/summary.ts";
import { createKnownKeys, createLookedUpKeys } from "../load/known-keys.ts";
import { createLoader, type Loader } from "../load/loader.ts";
import type { RunParts } from "../load/run-parts.ts";
import { closeRun, isSomethingRead, type RunEnding, type RunResult } from "./close-run.ts";
import { createDamaged, createWarnings } from "./warnings.ts";

export interface RunOptions {
  settings: SyncSettings;
  /** Lent for the run. */
  connections: Connections;
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
  /** In each transaction that writes: throws `LockedError` where another run has begun since. */
  readonly assertMayWrite: (tx: TransactionSql) => Promise<void>;
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
  const { connections, clock, log, signal } = options;
  // A round of the watch is short. It does not wait for other runs, but they wait for it.
  const lease = await takeRunLease(connections, { clock, log, signal, outlasts: kind !== "watch" });
  // A stop does not wait for another session, which may keep a table for hours.
  let waits: NodeJS.Timeout | undefined;
  const stop = () => {
    waits = setInterval(() => void connections.cancelWaits(), CANCEL_EVERY_MS);
  };
  signal.addEventListener("abort", stop, { once: true });
  const loan = connections.lend();
  try {
    return await runWithLease(options, kind, work, lease, loan.sql);
  } catch (error) {
    throw stopOr(error, signal);
  } finally {
    signal.removeEventListener("abort", stop);
    clearInterval(waits);
    // Work that broke off may have left statements behind, and they must not wait on for another session.
    await loan.takeBack();
    await lease.release();
    log.debug({ at: clock.now().toISOString() }, "the lease of the run is released");
  }
}

/** What ended a run: the stop, where that had a statement cancelled. */
const stopOr = (error: unknown, signal: AbortSignal): unknown =>
  signal.aborted && sqlstateOf(error) === QUERY_CANCELED
    ? signal.reason
    : toStoreError(error, "run the sync");

async function runWithLease(
  options: RunOptions,
  kind: RunKind,
  work: (run: OpenRun) => Promise<void>,
  lease: Lease,
  sql: Sql,
): Promise<RunResult> {
  const { settings, connections, clock, meters } = options;
  const { renew } = connections;
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
  const waits = { clock, signal: abort.signal, renew };
  const keep = async (runId: number | null) => {
    if (!(await lease.keep())) throw closedElsewhere(runId);
  };
  const opening = createPatience({ ...waits, regain: () => keep(null), log: options.log });
  // The server may not know the zone, which would else show after the lists are read.
  await opening(
    "read dates in the time zone of the service",
    () => sql`select now() at time zone ${settings.sourceTimezone}`,
  );
  await opening("read the service of the mirror", () => assertService(sql, settings.baseUrl));
  const found = await opening("find whether the database was restored", () => findPlace(sql));
  const { interrupted, runId } = await opening("open the run", () =>
    startRun(sql, kind, startedAt.toISOString(), lease, options.assertMayRun),
  );
  // From here on each line is of this run.
  const log = options.log.child({ run_id: runId });
  log.debug({ kind }, "run opened");
  for (const id of interrupted)
    log.warn({ dead_run_id: id }, "an earlier run had died; closed it as interrupted");
  const regain = () => keep(runId);
  const patience = createPatience({ ...waits, regain, log, hasWritten: true });
  const warnings = createWarnings(log);
  if (found.movedAfter) {
    const { runId: last, at } = found.movedAfter;
    const since = `since run ${last} of ${at} this database was restored, copied or moved, or a standby took over`;
    warnings.warn(`${since}; if runs came after that one, what they stored is not here`);
  }
  const client = createRunClient(options, { log, signal: abort.signal, onWarning: warnings.warn });
  const beat = async () => {
    await regain();
    await beatHeart(sql, runId);
  };
  const heart = startHeart(beat, (reason) => abort.abort(reason));
  const damaged = createDamaged(log);
  const details = { refused: 0 };
  const loader = countTotals(
    createLoader({
      ...{ sql, runId, startedAt, patience },
      keys: kind === "watch" ? createLookedUpKeys(sql) : createKnownKeys(sql),
      baseUrl: settings.baseUrl,
      sourceTimezone: settings.sourceTimezone,
      clockAhead: client.clockAhead,
      assertMayWrite: lease.assertHolds,
      meter: meters?.store,
    }),
    { totals, meters, details, damaged },
  );
  const ending: RunEnding = { kind, resources: {}, error: null, brokenBy: null, isPartial: false };
  try {
    await work({
      ...{ runId, startedAt, sql, client, loader, patience, clock, log, meters, totals, ending },
      ...{ signal: abort.signal, abort, warn: warnings.warn, assertMayWrite: lease.assertHolds },
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
  for (const { resource, field, records, example } of loader.unread.lost()) {
    ending.isPartial = true;
    warnings.warn(
      `the field ${field} of ${resource}s was readable, and is not in ${counted(records, "record")} read now, such as ${example}: ` +
        "the mirror keeps the values that it has; see whether a newer docmirror reads it",
    );
  }
  for (const { resource, field, example } of loader.unread.unnamed())
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
  const told = { warnings: warnings.list(), damaged: damaged.count, askedFor: client.askedFor() };
  const result = await closeRun({
    sql,
    regain,
    renew,
    clock,
    log,
    meters,
    runId,
    startedAt,
    totals,
    ending,
    ...told,
  });
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

/** Calls `beat` each few seconds, and `onLost` when it says that another run has begun. */
export function startHeart(beat: () => Promise<unknown>, onLost: (reason: LockedError) => void) {
  let isBeating = false;
  const tryBeat = async () => {
    if (isBeating) return;
    isBeating = true;
    try {
      await beat();
    } catch (error) {
      // If the database is away, the work itself waits for it.
      if (error instanceof LockedError) onLost(error);
    } finally {
      isBeating = false;
    }
  };
  const timer = setInterval(() => void tryBeat(), RENEW_MS);
  return { stop: () => clearInterval(timer) };
}
