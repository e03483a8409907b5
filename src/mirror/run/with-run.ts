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
import { messageOf, UpstreamError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Meters } from "../../base/metrics/meters.ts";
import { counted } from "../../base/text.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { createPatience } from "../../store/connection/patience.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { QUERY_CANCELED, sqlstateOf, toStoreError } from "../../store/connection/store-errors.ts";
import type { Connections } from "../../store/ledger/connections.ts";
import { findPlace, notePlace } from "../../store/ledger/database-place.ts";
import type { Lease } from "../../store/ledger/leases.ts";
import { assertService } from "../../store/ledger/mirrored-service.ts";
import { takeRunLease } from "../../store/ledger/run-lease.ts";
import { beatHeart, closedElsewhere, type RunTotals, startRun } from "../../store/ledger/run-ledger.ts";
import type { RunKind } from "../../store/schema/runs.ts";
import { type Client, type ClientOptions, createClient } from "../api/client.ts";
import { isUpstreamLost } from "../api/fates.ts";
import type { HostPace } from "../api/host-pace.ts";
import type { SyncSettings } from "../lists/plan.ts";
import { NOTHING_UNFINISHED } from "../lists/summary.ts";
import { updateBuildStates } from "../load/build-states.ts";
import { createKnownKeys, createLookedUpKeys } from "../load/known-keys.ts";
import { createLoader, type Loader } from "../load/loader.ts";
import { isKnownFinal } from "../load/record-transitions.ts";
import { closeRun, isSomethingRead, type RunResult } from "./close-run.ts";
import { startHeart } from "./heart.ts";
import type { OpenRun } from "./open-run.ts";
import { createDamaged, createWarnings, type DamagedRecords } from "./warnings.ts";

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

/** The stop, where that had a statement cancelled. */
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
  const { signal } = abort;
  // Every request and every place in the queue listens to this signal.
  setMaxListeners(0, signal);
  const forward = () => abort.abort(options.signal.reason);
  options.signal.addEventListener("abort", forward, { once: true });
  if (options.signal.aborted) forward();

  const keep = async (runId: number | null) => {
    if (!(await lease.keep())) throw closedElsewhere(runId);
  };
  const opening = createPatience({ clock, signal, renew, regain: () => keep(null), log: options.log });
  await opening("read the service of the mirror and dates in its time zone", () =>
    assertService(sql, settings.baseUrl, settings.sourceTimezone),
  );
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
  const patience = createPatience({ clock, signal, renew, regain, log, hasWritten: true });
  const { warn, list: listWarnings } = createWarnings(log);
  if (found.movedAfter) {
    const { runId: last, at } = found.movedAfter;
    const since = `since run ${last} of ${at} this database was restored, copied or moved, or a standby took over`;
    warn(`${since}; if runs came after that one, what they stored is not here`);
  }
  const client = createRunClient(options, { log, signal, onWarning: warn });
  const heart = startHeart(
    async () => {
      await regain();
      await beatHeart(sql, runId);
    },
    (reason) => abort.abort(reason),
  );
  const totals: RunTotals = {
    requests: 0,
    bytes: 0,
    replacedNul: 0,
    resolved: 0,
    unresolved: 0,
    transitions: 0,
    changed: 0,
    clockAhead: null,
    certificateEnd: null,
    unfinished: { ...NOTHING_UNFINISHED },
  };
  const losses = { damaged: createDamaged(log), refused: 0, emptied: 0 };
  let isFinal = isKnownFinal;
  const loader = createLoader({
    sql,
    runId,
    startedAt,
    patience,
    keys: kind === "watch" ? createLookedUpKeys(sql) : createKnownKeys(sql),
    baseUrl: settings.baseUrl,
    sourceTimezone: settings.sourceTimezone,
    replicaLagMs: settings.replicaLagMs,
    ignoredFields: settings.ignoredFields,
    clockAhead: client.clockAhead,
    isFinal: (state) => isFinal(state),
    assertMayWrite: lease.assertHolds,
    meter: meters?.store,
  });
  const run: OpenRun = {
    runId,
    startedAt,
    sql,
    client,
    loader: countTotals(loader, totals, losses, meters),
    patience,
    clock,
    log,
    meters,
    totals,
    signal,
    abort,
    warn,
    assertMayWrite: lease.assertHolds,
    ending: { kind, resources: {}, error: null, brokenBy: null, isPartial: false },
  };
  const { ending } = run;
  try {
    isFinal = await storeBuildStates(run, kind, settings.finalStates);
    await work(run);
  } catch (reason) {
    ending.error = stopOr(reason, options.signal);
  } finally {
    heart.stop();
    options.signal.removeEventListener("abort", forward);
    await client.close();
  }

  Object.assign(totals, client.stats(), {
    clockAhead: client.clockAhead(),
    certificateEnd: client.certificateEnd(),
  });
  // A lost host matters more than a missing resource.
  const isUpstreamFault = ending.error === null || ending.error instanceof UpstreamError;
  if (client.lost.aborted && isUpstreamFault) ending.error = client.lost.reason;
  // A list that was refused or got no answer is worth another try soon; one with a wrong form is not.
  if (isUpstreamLost(ending.brokenBy) || !isSomethingRead(ending.resources)) ending.error ??= ending.brokenBy;
  warnOfLosses(run, losses);
  const result = await closeRun(run, {
    regain,
    renew,
    warnings: listWarnings(),
    damaged: losses.damaged.count,
    askedFor: client.askedFor(),
  });
  // A run that was stopped or lost its database may have warned nobody.
  if (ending.error === null || ending.error instanceof UpstreamError) {
    await notePlace(sql, runId, found).catch((reason: unknown) => {
      log.warn({ error: messageOf(reason) }, "could not note where the database is; the next run does");
    });
  }
  log.debug({ kind: ending.kind, status: result.summary.status }, "run closed");
  return result;
}

/** The first thing that a run writes: by it the loader, and the reports, know in which states builds have ended. */
async function storeBuildStates(
  { runId, sql, patience, log, assertMayWrite }: OpenRun,
  kind: RunKind,
  finalStates: SyncSettings["finalStates"],
) {
  const facts = { runId, finalStates, isLearning: kind !== "watch", assertMayWrite };
  const { isFinal, gained, lost } = await patience("store the states of builds", () =>
    updateBuildStates(sql, facts),
  );
  if (gained.length + lost.length > 0) log.info({ gained, lost }, "builds end in other states than before");
  return isFinal;
}

export function createRunClient(
  { settings, pace, clock, meters }: Pick<RunOptions, "settings" | "pace" | "clock" | "meters">,
  own: Required<Pick<ClientOptions, "log" | "signal" | "onWarning">>,
): Client {
  const meter = meters?.requests;
  return createClient({ ...settings, ...(pace && { pace }), isExact: true, clock, meter, ...own });
}

/** The data that a run could not read or store as it came. */
interface Losses {
  damaged: DamagedRecords;
  /** Records that were asked for one by one and went to quarantine. Those of a list are in its summary. */
  refused: number;
  /** Builds with a text that became empty. */
  emptied: number;
}

/** A service that empties fewer logs in a run has corrected them one by one. */
const MANY_EMPTIED = 10;

function warnOfLosses(
  { loader: { unread }, ending, warn }: OpenRun,
  { damaged, refused, emptied }: Losses,
): void {
  for (const { resource, field, records, example, wasRead } of unread.lost()) {
    ending.isPartial = true;
    const where = `in ${counted(records, "record")} read now, such as ${example}`;
    warn(
      wasRead
        ? `the field ${field} of ${resource}s was readable, and is not ${where}: ` +
            "the mirror keeps the values that it has; see whether a newer docmirror reads it"
        : `the field ${field} of ${resource}s could be read in none of the records, and has a value ${where}: ` +
            "the mirror has no value of it, so reports lack it; see whether a newer docmirror reads it",
    );
  }
  for (const { resource, field, example } of unread.unnamed())
    warn(
      `the field ${field} of ${resource}s names no ${field} that can be found, such as ${example}: reports show them without one`,
    );
  if (refused > 0) {
    ending.isPartial = true;
    warn(
      `${refused} records that were asked for one by one could not be stored; see \`docmirror quarantine\``,
    );
  }
  if (emptied >= MANY_EMPTIED)
    warn(
      `the service has emptied logs of ${emptied} builds that it had shown: the mirror keeps what it has read of them, and reports their errors as before`,
    );
  if (damaged.count > 0) warn(damaged.describe());
}

/** The loader, with its counts added to the totals of the run. The pages of a walk are counted by the walk. */
function countTotals(loader: Loader, totals: RunTotals, losses: Losses, meters: Meters | undefined): Loader {
  return {
    ...loader,
    async load(batch, alongside) {
      const counts = await loader.load(batch, alongside);
      if (batch.source === "detail") meters?.runs.settled(batch.resource, counts);
      if (alongside === undefined) losses.refused += counts.quarantined;
      totals.transitions += counts.transitions;
      totals.changed += counts.inserted + counts.updated + counts.restored + counts.quarantined;
      totals.replacedNul += counts.replacedNul;
      losses.emptied += counts.emptied;
      losses.damaged.add(batch.resource, counts.damaged);
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
