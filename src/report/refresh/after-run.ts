import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { StoreMeter } from "../../base/metrics/meters.ts";
import { type RefreshOptions, refreshReport } from "./refresh.ts";
import type { RefreshSettings } from "./refresh-settings.ts";

/** What a refresh needs of a run's options. The run's own type would make reports depend on upstream code. */
interface RunOptions {
  settings: RefreshSettings & { databaseUrl: string };
  log: Logger;
  signal: AbortSignal;
  /** Time the refresh. @default nothing does */
  meters?: { store: StoreMeter };
}

/** The result of the refresh after a run. */
export interface ReportedResult {
  /** Why the refresh failed; null when it did not. The next refresh does the same work. */
  reportError: unknown;
}

/** Makes a run function also refresh the reports, however the run ended. Errors of the run are thrown. */
export function withReport<Options extends RunOptions, Result extends { summary: { run_id: number | null } }>(
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

/** Refreshes the reports. Returns a failure or a stop, else null. A failure is logged too. */
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
    if (!options.signal?.aborted)
      log.error({ error: messageOf(error) }, "could not refresh the reports; the next run tries again");
    return error;
  }
}
