/** The end of a run: its status, its row in the ledger, its summary and its exit code. */
import { EXIT, LockedError, MirrorError, messageOf, StoppedError, UpstreamError } from "../../base/errors.ts";
import { createPatience, type PatienceOptions } from "../../store/connection/patience.ts";
import { finishRun, mergeQuietRounds, type RunEnd } from "../../store/ledger/run-ledger.ts";
import { isUpstreamLost } from "../api/fates.ts";
import { isPartial, type RunSummary } from "../lists/summary.ts";
import type { OpenRun, RunEnding } from "./open-run.ts";

/** The end of a run waits so long for a database that is away; after a stop or a lost one, it has waited already. */
const CLOSE_WITHIN_MS = 60_000;
const CLOSE_BROKEN_WITHIN_MS = 1000;

/** `error` ended the run early, or is null. */
export interface RunResult {
  summary: RunSummary;
  error: unknown;
}

interface ClosingFacts extends Pick<PatienceOptions, "regain" | "renew"> {
  warnings: string[];
  damaged: number;
  askedFor: RunSummary["asked_for"];
}

/** Where that fails, the next run closes it. Throws `StoreError`, or `LockedError`, if the run was good until then. */
export async function closeRun(run: OpenRun, facts: ClosingFacts): Promise<RunResult> {
  const { sql, log, meters, runId, startedAt, totals, ending } = run;
  const { warnings, damaged, askedFor } = facts;
  const { kind, resources, error } = ending;
  const { requests, bytes, resolved, unresolved, transitions, unfinished } = totals;
  const status = statusOf(ending, ending.isPartial || isPartial({ resources, unfinished }));
  const finishedAt = run.clock.now();
  const message = error instanceof Error ? error.message : null;
  const isQuiet = kind === "watch" && status === "succeeded" && warnings.length === 0 && isNothingSeen(run);
  const end = { status, finishedAt: finishedAt.toISOString(), error: message, warnings, isQuiet };
  await storeEnd(run, facts, end).catch((reason: unknown) => {
    // The next run will close it as interrupted.
    meters?.runs.ended(kind, "interrupted");
    throw reason;
  });
  meters?.runs.ended(kind, status);
  if (isQuiet) {
    await mergeQuietRounds(sql, runId).catch((reason: unknown) => {
      log.warn({ error: messageOf(reason) }, "could not merge the rounds that saw nothing; a later one does");
    });
  }
  const summary: RunSummary = {
    run_id: runId,
    kind,
    status,
    started_at: startedAt.toISOString(),
    finished_at: end.finishedAt,
    duration_ms: finishedAt.getTime() - startedAt.getTime(),
    requests,
    bytes,
    asked_for: askedFor,
    resources,
    references: { resolved, unresolved },
    unfinished,
    transitions,
    ...(damaged > 0 && { damaged }),
    ...(message !== null && { error: message }),
    ...(warnings.length > 0 && { warnings }),
  };
  return { summary, error };
}

async function storeEnd(
  { sql, clock, log, runId, totals, ending: { error } }: OpenRun,
  { regain, renew }: ClosingFacts,
  end: RunEnd,
): Promise<void> {
  const isOver = error === null || error instanceof UpstreamError;
  const patience = createPatience({
    clock,
    log,
    signal: new AbortController().signal,
    regain,
    renew,
    hasWritten: true,
    patienceMs: isOver ? CLOSE_WITHIN_MS : CLOSE_BROKEN_WITHIN_MS,
  });
  try {
    await patience("close the run", () => finishRun(sql, runId, end, totals));
  } catch (reason) {
    if (error === null) throw reason;
    const why = { error: messageOf(reason) };
    if (reason instanceof LockedError) log.warn(why, "another process has closed the run");
    else log.warn(why, "the run is left open");
  }
}

/** True for a round that found the head of the builds as it was, and no open build in another state. */
function isNothingSeen({ ending: { resources }, totals }: OpenRun): boolean {
  const { changed, transitions, resolved, unresolved, replacedNul } = totals;
  return (
    (resources.build?.walk === "head" || resources.build?.dropped === true) &&
    changed + transitions + resolved + unresolved + replacedNul === 0
  );
}

function statusOf({ error, resources }: RunEnding, hasGaps: boolean): RunSummary["status"] {
  if (error instanceof StoppedError) return "interrupted";
  if (error === null) return hasGaps ? "partial" : "succeeded";
  return isSomethingRead(resources) && error instanceof UpstreamError ? "partial" : "failed";
}

export function isSomethingRead(resources: RunSummary["resources"]): boolean {
  return Object.values(resources).some(({ pages }) => pages > 0);
}

/** The exit code of a run. A partial run that lost upstream has its own code; any other partial run has 3. */
export function exitCodeOfRun({ summary, error }: RunResult): number {
  if (summary.status === "succeeded") return EXIT.done;
  if (summary.status === "partial" && !isUpstreamLost(error)) return EXIT.partial;
  return error instanceof MirrorError ? error.exitCode : error === null ? EXIT.partial : EXIT.bug;
}
