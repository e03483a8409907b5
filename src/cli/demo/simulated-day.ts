import { type Clock, systemClock } from "../../clock.ts";
import type { SyncKind } from "../../db/schema/runs.ts";
import type { Logger } from "../../log.ts";
import type { World } from "../../simulate/world.ts";
import { runSync, type SyncOptions, type SyncResult, type SyncSettings } from "../../sync/run.ts";
import type { RunSummary } from "../../sync/summary.ts";

const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * When the demo syncs, in virtual minutes after its first look. Every six hours come two looks with five minutes between, so that
 * builds are seen on their way and not only at their end. The day ends with a full run.
 */
const LOOKS: readonly (readonly [minute: number, kind: SyncKind])[] = [
  [0, "full"],
  ...[360, 720, 1080].flatMap((hour) => [0, 5].map((minute) => [hour + minute, "incremental"] as const)),
  [1440, "full"],
];

/** A run in the demo: `took_ms` is real time, the summary's own times are the world's. */
export interface DemoRun extends RunSummary {
  took_ms: number;
}

export interface DemoSyncDeps {
  world: World;
  settings: SyncSettings;
  log: Logger;
  signal: AbortSignal;
}

/** Runs one sync in virtual time, which stands still meanwhile. A run that failed or was stopped is thrown. */
export async function syncAt(
  deps: DemoSyncDeps,
  kind: SyncKind | null,
  onProgress?: SyncOptions["onProgress"],
): Promise<{ run: DemoRun; result: SyncResult }> {
  const { world, settings, log, signal } = deps;
  // Sightings carry the world's time; waits between requests pass in ours.
  const clock: Clock = { now: () => world.now(), sleep: systemClock.sleep };
  const startedAt = performance.now();
  // What a run tells of itself would drown the demo's own lines.
  const quiet = log.level === "info" ? log.child({}, { level: "warn" }) : log;
  const result = await runSync({
    settings,
    kind,
    clock,
    log: quiet,
    signal,
    ...(onProgress && { onProgress }),
  });
  const { status } = result.summary;
  if (status === "failed" || status === "interrupted") throw result.error;
  const run = { ...result.summary, took_ms: Math.round(performance.now() - startedAt) };
  log.info(runLine(run));
  return { run, result };
}

/**
 * Lets a day pass in the world with syncs in between; the first one mirrors everything. Every run of the day comes out, and so
 * does the first one that did not fully succeed.
 */
export async function passDay(
  deps: DemoSyncDeps,
  onFirstProgress: NonNullable<SyncOptions["onProgress"]>,
  onFirstDone: () => void,
): Promise<{ runs: DemoRun[]; imperfect: SyncResult | null }> {
  const { world, signal } = deps;
  const startMs = world.now().getTime();
  const runs: DemoRun[] = [];
  let imperfect: SyncResult | null = null;
  for (const [minute, kind] of LOOKS) {
    signal.throwIfAborted();
    world.advanceTo(new Date(startMs + minute * MINUTE_MS));
    const isFirst = runs.length === 0;
    const { run, result } = await syncAt(deps, kind, isFirst ? onFirstProgress : undefined);
    if (isFirst) onFirstDone();
    runs.push(run);
    if (run.status !== "succeeded") imperfect ??= result;
  }
  return { runs, imperfect };
}

/** Keeps the world going, a virtual minute a second, and syncs each virtual hour until the signal is aborted. */
export async function keepGoing(deps: DemoSyncDeps, onTrouble: (error: unknown) => void): Promise<never> {
  const { world, signal } = deps;
  for (let minute = 1; ; minute++) {
    await systemClock.sleep(1000, signal);
    world.advance(MINUTE_MS);
    if (minute % 60 !== 0) continue;
    try {
      await syncAt(deps, null);
    } catch (error) {
      signal.throwIfAborted();
      onTrouble(error);
    }
  }
}

/** One line for a reader: as fields, eight runs would fill a terminal. */
function runLine(run: DemoRun): string {
  const at = run.started_at.slice(0, 16).replace("T", " ");
  const counts = `${sumOf(run, "inserted")} new, ${sumOf(run, "updated")} updated, ${run.transitions} transitions`;
  return `synced at ${at} (${run.kind}, ${run.status}): ${counts}, ${(run.took_ms / 1000).toFixed(1)} s`;
}

/** A count of all resources together. */
export function sumOf({ resources }: DemoRun, count: "inserted" | "updated"): number {
  return Object.values(resources).reduce((total, walk) => total + walk[count], 0);
}
