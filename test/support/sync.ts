import { systemClock } from "../../src/base/clock.ts";
import { defaultValues } from "../../src/base/config.ts";
import { silentLog } from "../../src/base/log.ts";
import type { SyncSettings } from "../../src/mirror/lists/plan.ts";
import type { RunSummary } from "../../src/mirror/lists/summary.ts";
import type { RunResult } from "../../src/mirror/run/close-run.ts";
import { runSync, type SyncOptions, type SyncResult } from "../../src/mirror/run/run.ts";
import { runWatchRound } from "../../src/mirror/run/watch-round.ts";
import type { RunOptions } from "../../src/mirror/run/with-run.ts";
import { connectionsOf } from "./connections.ts";

export type Over<Options> = Partial<Omit<Options, "settings">> & { settings?: Partial<SyncSettings> };

/** Runs one sync against a server on loopback, as fast as it goes unless told otherwise. */
export function syncOnce(
  databaseUrl: string,
  baseUrl: URL,
  options: Over<SyncOptions> = {},
): Promise<SyncResult> {
  return runSync(withDefaults(databaseUrl, baseUrl, options));
}

/** What a run tells that had nothing to do, but for this. */
export const summaryOf = (over: Partial<RunSummary>): RunSummary => ({
  run_id: 1,
  kind: "full",
  status: "succeeded",
  duration_ms: 100,
  requests: 1,
  bytes: 1,
  resources: {},
  started_at: "2026-03-10T02:17:00.000Z",
  finished_at: "2026-03-10T02:17:00.100Z",
  transitions: 0,
  asked_for: { pages: 1, root: 0, schemas: 0, details: 0, references: 0 },
  references: { resolved: 0, unresolved: 0 },
  unfinished: { deletions: 0, waiting: 0, references: 0, open_builds: 0, deficit: 0 },
  ...over,
});

export function watchOnce(
  databaseUrl: string,
  baseUrl: URL,
  options: Over<RunOptions> = {},
): Promise<RunResult> {
  return runWatchRound(withDefaults(databaseUrl, baseUrl, options));
}

/** The options of a run with what a test leaves open. */
export function withDefaults<Options extends RunOptions>(
  databaseUrl: string,
  baseUrl: URL,
  { settings, ...rest }: Over<Options>,
): Omit<Over<Options>, "settings"> &
  Pick<RunOptions, "settings" | "connections" | "clock" | "log" | "signal"> {
  return {
    connections: connectionsOf(databaseUrl),
    clock: systemClock,
    log: silentLog,
    signal: new AbortController().signal,
    ...rest,
    settings: {
      ...defaultValues(),
      baseUrl,
      ratePerSecond: 0,
      timeoutMs: 60_000,
      retries: 2,
      fullEveryDays: 7,
      // Most services here are one process, so what is gone is gone at once.
      replicaLagMs: 0,
      ...settings,
    },
  };
}
