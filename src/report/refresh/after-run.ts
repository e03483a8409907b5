import type { Logger } from "../../base/log.ts";
import type { StoreMeter } from "../../base/metrics/store-meter.ts";
import { type RefreshOptions, refreshReport } from "./refresh.ts";
import type { RefreshSettings } from "./refresh-settings.ts";

/**
 * The options of a run that a refresh needs. Declared here, because the run's own type would make reports
 * depend on upstream code.
 */
interface RunOptions {
  settings: RefreshSettings & { databaseUrl: string };
  log: Logger;
  signal: AbortSignal;
  /** Time the refresh. @default nothing does */
  meters?: { store: StoreMeter };
}

/** The part of a run's result that its lines in the log need. */
interface RunOutcome {
  summary: { run_id: number | null };
}

/** The result of the refresh after a run. */
export interface ReportedResult {
  /** Why the refresh failed; null when it did not. The next refresh does the same work. */
  reportError: unknown;
}

/**
 * Makes a run function that also refreshes the reports after each run, however it ended. Errors of the run
 * are thrown as they are.
 */
export function withReport<Options extends RunOptions, Result extends RunOutcome>(
  run: (options: Options) => Promise<Result>,
): (options: Options) => Promise<Result & ReportedResult> {
  return async (options) => {
    const result = await run(options);
    const { settings, signal, meters } = options;
    const log = options.log.child({ run_id: result.summary.run_id });
    const from = performance.now();
    const reportError = await tryRefresh(settings.databaseUrl, { ...settings, signal }, log);
    meters?.store.refreshed((performance.now() - from) / 1000, reportError === null);
    return { ...result, reportError };
  };
}

/**
 * Refreshes the reports. A failure is logged and returned; null when there was none. A stop is returned, but
 * not logged.
 */
export async function tryRefresh(url: string, options: RefreshOptions, log: Logger): Promise<unknown> {
  const from = performance.now();
  try {
    const { changed, isFull, repaired, runId, isLeft } = await refreshReport(url, options);
    if (isLeft) {
      log.debug({ newest_run_id: runId }, "a later version defined the reports; it refreshes them");
      return null;
    }
    const facts = { newest_run_id: runId, changed, full: isFull };
    log.debug({ ...facts, duration_ms: Math.round(performance.now() - from) }, "reports refreshed");
    if (repaired) {
      log.warn({ repaired }, "facts of builds were not what their records give; computed them again");
    }
    return null;
  } catch (error) {
    if (options.signal?.aborted !== true) {
      const message = error instanceof Error ? error.message : String(error);
      log.error({ error: message }, "could not refresh the reports; the next run tries again");
    }
    return error;
  }
}
